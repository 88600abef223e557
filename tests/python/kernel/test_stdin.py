"""input() and getpass()."""


def ask(kernel, code, answer, **options):
    message_id = kernel.client.execute(code, allow_stdin=True, **options)
    request = kernel.client.get_stdin_msg(timeout=60)["content"]
    kernel.client.input(answer)
    return request, kernel.finish(message_id)


def test_input(kernel):
    request, outcome = ask(kernel, "name = input('who? ')\nname.upper()", "ada \u00e9")
    assert request == {"prompt": "who? ", "password": False}
    assert outcome.result == "'ADA \u00c9'"


def test_password(kernel):
    request, outcome = ask(kernel, "import getpass\nlen(getpass.getpass('secret: '))", "xyz")
    assert request == {"prompt": "secret: ", "password": True}
    assert outcome.result == "3"


def test_output_before_the_question_is_shown_first(kernel):
    message_id = kernel.client.execute("print('first', end='')\ninput()", allow_stdin=True)
    kernel.client.get_stdin_msg(timeout=60)
    assert kernel.wait_for("stream", message_id)["text"] == "first"
    kernel.client.input("")
    assert kernel.finish(message_id).result == "''"


def test_refused_where_the_front_end_can_not_answer(kernel):
    outcome = kernel.run("input()", allow_stdin=False)
    assert outcome.reply["ename"] == "StdinNotImplementedError"
    assert "does not support input requests" in outcome.reply["evalue"]


def test_the_debugger_of_the_terminal(kernel):
    message_id = kernel.client.execute(
        "def f(n):\n    import pdb; pdb.set_trace()\n    return n\nf(41)", allow_stdin=True
    )
    kernel.client.get_stdin_msg(timeout=60)
    kernel.client.input("p n + 1")
    kernel.client.get_stdin_msg(timeout=60)
    kernel.client.input("continue")
    outcome = kernel.finish(message_id)
    assert "42" in outcome.text() and outcome.result == "41"
