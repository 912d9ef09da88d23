"""Scripts without spaces between words are known by most of a text's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.scripts import without_spaces

SAMPLES = {
    "两只狗在雪地里玩耍。": "Chinese",
    "他在 Google 和 Microsoft Research 工作，每年 3,000,000 元。": "Chinese",
    "二匹の犬が雪の中で遊んでいる。": "Japanese",
    "東京都知事選挙、小池氏が三選確実に": "Japanese",
    "ﾆﾋｷﾉｲﾇ": "Japanese",
    "สุนัขสองตัวเล่นในหิมะ": "other",
    "ໝາສອງໂຕຫຼິ້ນຢູ່ໃນຫິມະ": "other",
    "ခွေးနှစ်ကောင် နှင်းထဲမှာ ကစားနေကြသည်။": "other",
    "ឆ្កែពីរក្បាលលេងក្នុងព្រិល។": "other",
    "ཁྱི་གཉིས་གངས་ནང་རྩེད་མོ་རྩེ།": "other",
    "Beijing (北京) is the capital of China.": "",
    "두 마리의 개가 눈 속에서 놀고 있다.": "",
    "दो कुत्ते बर्फ में खेल रहे हैं।": "",
    "كلبان يلعبان في الثلج.": "",
    "Hai con chó đang chơi trong tuyết.": "",
    "Две собаки играют в снегу.": "",
    "1 2 3": "",
    "": "",
}


@pytest.mark.parametrize(("text", "script"), SAMPLES.items())
def test_the_script_is_that_of_most_words(text: str, script: str) -> None:
    assert without_spaces([text]) == script


@given(st.text("0123456789 .,!?%€—。，、「」！②😀"))
def test_what_is_no_letter_decides_nothing(signs: str) -> None:
    assert without_spaces([signs]) == ""
    assert without_spaces([signs, "两只狗在雪地里玩耍"]) == "Chinese"
