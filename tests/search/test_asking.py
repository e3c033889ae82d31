"""What a message wants of earlier messages."""

import pytest
from plugin.assistant.search.asking import Need, need_of


@pytest.mark.parametrize(
    "text",
    [
        "Which seed did I like?",
        "What was the name of the model we used on Monday",
        "Which graphics card do I have?",
        "Do you remember my deadline?",
        "For the tin robot, tell me the sampler and its resolution, please.",
        "Two things about the robot that I forgot: the folder and the seed.",
        "Can you still remember the seed that I liked?",
        "Welcher Seed hat mir gefallen?",
        "Wie hieß der Hund von Anna",
        "Quel était le nom du modèle ?",
        "J'ai oublié le nom du modèle.",
        "¿Qué semilla me gustó?",
        "Qué modelo usamos al principio",
        "Какой сид мне понравился?",
        "Напомни номер заказа.",
        "我喜欢的那个种子是多少？",
        "你还记得我的显卡吗",
        "红色自行车的步数我忘了。",
        "私が好きだったシードは何ですか？",
        "最初に使ったモデルはどれでしたか",
        "내가 좋아했던 시드가 뭐였지?",
        "처음에 쓴 모델이 무엇이었나요",
    ],
)
def test_a_question_asks(text: str) -> None:
    assert need_of(text) is Need.ASKS


@pytest.mark.parametrize(
    "text",
    [
        "Go back to the seed that I liked.",
        "Use the same settings as for the lighthouse.",
        "Which nodes would I need for a transparent background?",
        "How do I make the picture sharper?",
    ],
)
def test_what_points_back_or_wants_advice_refers(text: str) -> None:
    assert need_of(text) is Need.REFERS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Thanks!",
        "Make it brighter.",
        "Try a different sampler and tell me what you changed.",
        "Run it again and tell me whether it worked.",
        "Can you set this up so that I get four variants?",
        "Why does it come out so dark? Have a look at the sampler, please.",
        "Remember for later: the seed is 42.",
        "Load `https://host/file?download=true` and `a ? b : c`.",
        "Mach die Farben hier bitte wärmer.",
        "Hazme el faro más nítido, por favor.",
        "Сделай маяк светлее.",
        "请把分辨率提高一倍，然后重新运行。",
        "もう少し明るくしてください。",
        "이미지를 더 밝게 해 주세요.",
    ],
)
def test_a_request_only_names(text: str) -> None:
    assert need_of(text) is Need.NAMES
