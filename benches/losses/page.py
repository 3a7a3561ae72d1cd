"""Writes docs/losses.md and its figure from what was measured."""

from __future__ import annotations

from pathlib import Path

import methods
import noise
import score
import train

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURE = "figures/losses.svg"
NAMES = [method.name for method in methods.METHODS]
# Of the others, what cannot be had.
REFERENCE = "truth"

TEXT = """# Losses for sloppy stamps

What a network learns from the same sloppy stamps by different losses: event F1 on recordings that
it has not seen. `make bench-losses` measures all of it, and writes this page.

![F1 of each loss by family of errors]({figure})

{tables}
**Bold**: within 0.01 of the best. `truth` is cross-entropy on the true labels, which nobody has.

## What is compared

- **ours, ordered** and **ours, free**: `ImpreciseLabelLoss`, from a delay of 0 and a spread of 2
- **naive**: cross-entropy, each stamp a label of its nearest instance
- **smeared**: cross-entropy on labels smeared by a Gaussian
- **drop-near**: naive, with instances near a stamp left out
- **CTC**: the stamps as a sequence, without their times
- **soft localisation**: after Schroeter et al., 2021: predictions and stamps are smoothed before
  they are compared, with a count term whose weight is ours
- **occurrence counts**: after Schroeter et al., 2019: the likelihood of the number of stamps alone

Errors of stamps, in spacings of instances:

{families}

## How to read it

- The same network for all (two layers, 32 wide, one instance at a time), {steps} steps of Adam, the
  same batches. Every loss is given its best width ({widths}) and its best learning rate
  ({rates}) by the **true labels of the held-out recordings**: an oracle that favours those
  with more to choose.
- The threshold is chosen without labels, by one rule: as many detections in the training recordings
  as there are stamps. That suits losses whose probabilities mean little, and is wrong by as much
  for all of them where stamps are missed or extra. An event is found by a detection within
  {tolerance} spacings.
- CTC and occurrence counts do not look at times, so that errors of stamps cannot hurt them.
- Sets with several annotators, groups, intervals or runs are left out, since the others have no
  word for them. Ours takes `varies={{"delay": "annotator"}}`, stamps as (earliest, latest), and
  `labels="chain"`: see `help(unjitter.torch.ImpreciseLabelLoss)`.
- Seeds or folds: {seeds}. A difference of 0.01 is within what seeds differ by.
- Simulated: {recordings} recordings of 80 raw windows to learn from, and as many held out. Real
  sets are split by person or recording into three folds, and stamps are drawn as above.

Measured {date}; {versions}.
"""


def write(found: list[dict]) -> None:
    rows = [row for own in found for row in own["rows"]]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    tables = {name: table([row for row in rows if row["set"] == name]) for name in sets}
    about = found[-1]["about"]
    text = TEXT.format(
        figure=FIGURE,
        tables="\n".join(f"{markdown(name, own)}\n" for name, own in tables.items()),
        families="\n".join(f"- **{name}**: {told}" for name, told in noise.MEANING.items()),
        widths=", ".join(f"{width:g}" for width in methods.WIDTHS),
        rates=" or ".join(f"{rate:g}" for rate in train.RATES),
        tolerance=score.TOLERANCE,
        seeds=", ".join(f"{name} {_seeds(rows, name)}" for name in sets),
        **about,
    )
    (DOCS / "losses.md").write_text(text)
    draw(tables, DOCS / FIGURE)


def _seeds(rows: list[dict], name: str) -> str:
    """How many there are of every family, if not equally many."""
    counts = {
        family: len({row["seed"] for row in rows if (row["set"], row["family"]) == (name, family)})
        for family in {row["family"] for row in rows if row["set"] == name}
    }
    least, most = min(counts.values()), max(counts.values())
    return str(least) if least == most else f"{least} to {most}"


def table(rows: list[dict]) -> dict[str, dict[str, float]]:
    """By family and method, the F1 of all seeds together, at each seed's best setting."""
    found: dict[str, dict[str, float]] = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        found[family] = {}
        for name in NAMES:
            own = [row for row in rows if (row["family"], row["method"]) == (family, name)]
            best = [max(_f1(row) for row in own if row["seed"] == s) for s in _all_seeds(own)]
            found[family][name] = sum(best) / len(best)
    return found


def _all_seeds(rows: list[dict]) -> list[int]:
    return sorted({row["seed"] for row in rows})


def _f1(row: dict) -> float:
    return score.Counts(row["found"], row["detected"], row["events"]).f1


def markdown(name: str, own: dict[str, dict[str, float]]) -> str:
    lines = [f"### {name}", "", "| errors | " + " | ".join(NAMES) + " |"]
    lines.append("|---|" + "--:|" * len(NAMES))
    for family, scores in own.items():
        best = max(value for method, value in scores.items() if method != REFERENCE)
        cells = [
            f"**{value:.2f}**" if method != REFERENCE and value > best - 0.01 else f"{value:.2f}"
            for method, value in scores.items()
        ]
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(tables: dict[str, dict[str, dict[str, float]]], file: Path) -> None:
    """A row of marks for each family, a panel for each set."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "losses"
    import matplotlib.pyplot as plt

    # Mid-tones, to be read on light and on dark pages.
    plt.rcParams.update({key: "#777777" for key in ("text.color", "axes.labelcolor")})
    plt.rcParams.update({"xtick.color": "#777777", "ytick.color": "#777777"})
    height = 0.6 + 3.1 * len(tables)
    figure, axes = plt.subplots(
        len(tables), 1, figsize=(6.0, height), squeeze=False, layout="constrained"
    )
    for axis, (name, own) in zip(axes[:, 0], tables.items()):
        for place, method in enumerate(NAMES):
            is_ours = method.startswith("ours")
            axis.plot(
                [scores[method] for scores in own.values()],
                range(len(own)),
                ls="",
                marker="|" if method == REFERENCE else "D" if is_ours else "o",
                ms=13 if method == REFERENCE else 7,
                color="#777777" if method == REFERENCE else f"C{place - 1}",
                alpha=0.85,
                label=method,
            )
        axis.set_yticks(range(len(own)), list(own))
        axis.invert_yaxis()
        axis.set_title(name)
        axis.grid(axis="x", color="#77777755")
        axis.patch.set_alpha(0.0)
        for spine in axis.spines.values():
            spine.set_color("#777777")
    axes[-1, 0].set_xlabel("event F1, unseen recordings")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                  frameon=False)  # fmt: skip
    figure.savefig(file, transparent=True, metadata={"Date": None})
