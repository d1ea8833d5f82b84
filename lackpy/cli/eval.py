"""`lackpy eval`: measure a model tier on a file of intents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json
from lackpy.evals.steps import STEPS

if TYPE_CHECKING:
    from lackpy.infer.model import Asker


@click.command("eval")
@click.argument("intents", type=click.Path(path_type=Path))
@click.option("--provider", type=click.Choice(["llamacpp", "ollama", "anthropic"]), default="llamacpp")
@click.option(
    "--model", default=None, help="GGUF file, or the provider's model name (default: configuration)."
)
@click.option(
    "--scorer", type=click.Path(path_type=Path), default=None, help="Python file with check(case, output)."
)
@click.option(
    "--workspaces",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder that holds the cases' workspaces.",
)
@click.option("--kit", "-k", default="debug", help="Kit of every case.")
@click.option(
    "--step",
    "steps",
    multiple=True,
    type=click.Choice([*STEPS, "all"]),
    default=("full",),
    help="What to switch; repeat for an ablation table, or 'all'.",
)
@click.option("--limit", type=click.IntRange(min=1), default=None, help="Only the first N cases.")
@click.option("--seed", type=int, default=1, help="Sampling seed.")
@click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="Threads of the local engine; 0 for all."
)
@click.option(
    "--cache", type=click.Path(path_type=Path), default=None, help="Folder that keeps model answers."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), default=None, help="Write the Markdown there."
)
@click.option(
    "--store/--no-store", "to_store", default=True, help="Keep the result in the workspace's store."
)
@workspace_option()
@json_option()
def command(
    intents: Path,
    provider: str,
    model: str | None,
    scorer: Path | None,
    workspaces: Path,
    kit: str,
    steps: tuple[str, ...],
    limit: int | None,
    seed: int,
    threads: int,
    cache: Path | None,
    output: Path | None,
    to_store: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Measure validity, rightness, seconds and tokens of a model tier on INTENTS (JSON lines)."""
    from lackpy.evals.cases import load_cases, load_scorer  # noqa: PLC0415  # loads kit and executor
    from lackpy.evals.harness import run_eval  # noqa: PLC0415
    from lackpy.evals.keep import keep  # noqa: PLC0415
    from lackpy.evals.report import HEADER, markdown, rows  # noqa: PLC0415

    root = find_workspace(workspace)
    cases = load_cases(intents, workspaces)[:limit]
    check = load_scorer(scorer)
    asking, close = _asker(provider, model, root, seed, threads)
    chosen = list(STEPS.values()) if "all" in steps else [STEPS[name] for name in dict.fromkeys(steps)]
    with _Progress(len(cases) * len(chosen)) as progress:
        try:
            measured = run_eval(
                cases,
                asking,
                check,
                chosen,
                kit=kit,
                cache=cache,
                identity=f"{provider} seed {seed}",
                progress=progress.step,
            )
        finally:
            close()
    text = markdown(f"{provider} {asking.client.model} on {intents.name}", measured)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    run_id = keep(root, provider, asking.client.model, intents.name, measured) if to_store else None
    if as_json:
        table = [dict(zip(HEADER, row, strict=True)) for row in rows(measured)]
        print_json({"run_id": run_id, "model": asking.client.model, "steps": table})
    else:
        click.echo(text, nl=False)


def _asker(provider: str, model: str | None, root: Path, seed: int, threads: int) -> tuple[Asker, Any]:
    """Build the provider as the configuration has it, with what the options override."""
    from lackpy import config as configuration  # noqa: PLC0415

    config = configuration.load(root)
    if provider == "llamacpp":
        from lackpy.infer.llamacpp import LlamaCppProvider  # noqa: PLC0415
        from lackpy.infer.setup import gguf_files  # noqa: PLC0415

        path = model or config.llamacpp.model_path or next(iter(gguf_files()), None)
        local = LlamaCppProvider(
            model_path=path,
            n_ctx=config.llamacpp.n_ctx,
            threads=threads or config.llamacpp.threads,
            seed=seed,
        )
        return _ready(local), local.close
    if provider == "ollama":
        from lackpy.infer.ollama import OllamaProvider  # noqa: PLC0415

        own = config.ollama
        return _ready(
            OllamaProvider(model=model or own.model, host=own.host, num_ctx=own.num_ctx, seed=seed)
        ), _nothing
    from lackpy.infer.anthropic import AnthropicProvider  # noqa: PLC0415

    api = config.anthropic
    return _ready(
        AnthropicProvider(model=model or api.model, base_url=api.base_url, api_key_env=api.api_key_env)
    ), _nothing


def _ready(provider: Any) -> Asker:
    said = provider.status()
    if not said.startswith("ready"):
        raise click.UsageError(said)
    asker: Asker = provider.asker
    return asker


def _nothing() -> None:
    """Close nothing."""


class _Progress:
    """A bar on stderr; silent where stderr isn't a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415  # heavy, and only a terminal needs it
            from rich.progress import Progress  # noqa: PLC0415

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("starting", total=self._total)
        return self

    def step(self, step: str, case: Any) -> None:
        """Show one more case."""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{step} {case.id}")

    def __exit__(self, *_exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
