"""superfed deploy: a real federation, on Flower."""

import typer

from superfed.cli.commands.deploy import demo, init, join, plain_app, resume, run, serve, server, site, status

app = typer.Typer(
    name="deploy",
    help="""Train where the data is: a federation of sites that keep their samples and their personal models.

    [bold]superfed deploy demo[/bold]
    """,
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("demo")(demo.command)
app.command("init")(init.command)
app.command("server")(server.command)
app.command("site")(site.command)
app.command("run")(run.command)
app.command("resume")(resume.command)
app.command("status")(status.command)
app.command("app")(plain_app.command)
app.command("serve")(serve.command)
app.command("join")(join.command)
