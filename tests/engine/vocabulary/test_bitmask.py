"""Compare masks and logits of every type and shape with the definition, bit by bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import structgen
from structgen import VocabularyError, allocate_token_bitmask, apply_token_bitmask
from structgen.engine.vocabulary import bitmask
from structgen.engine.vocabulary.bitmask import as_words, tokens_of
from structgen.engine.vocabulary.bitmask_kernel import MaskedLogits, MaskRows, TokenSubset

FLOATS = [np.float16, np.float32, np.float64]
KINDS = [*bitmask._KINDS.values(), bitmask._BFLOAT16]
WORDS = st.sampled_from([0, 0xFFFFFFFF, 1, 0x80000000, 0x7FFFFFFF]) | st.integers(0, 0xFFFFFFFF)
MASKS = arrays.arrays(np.uint32, st.tuples(st.integers(1, 3), st.integers(1, 4)), elements=WORDS)


def allowed(mask, row, token_id):
    word, bit = divmod(token_id, 32)
    return word < mask.shape[-1] and bool(int(mask[row, word]) >> bit & 1)


def expected(logits, mask):
    out = logits.copy()
    for row, token_id in np.ndindex(*logits.shape):
        if not allowed(mask, row, token_id):
            out[row, token_id] = -np.inf
    return out


@given(mask=MASKS, width=st.integers(0, 140), dtype=st.sampled_from(FLOATS))
def test_numpy(mask, width, dtype):
    logits = np.random.default_rng(width).standard_normal((len(mask), width)).astype(dtype)
    should = expected(logits, mask)
    if mask.shape[1] > (width + 31) // 32:
        with pytest.raises(VocabularyError, match=f"got {width} logits a row"):
            apply_token_bitmask(logits, mask)
        return
    apply_token_bitmask(logits, mask)
    np.testing.assert_array_equal(logits, should)


@given(mask=MASKS, width=st.integers(1, 140), kind=st.sampled_from(KINDS))
def test_the_kernel_and_numpy_agree_on_every_bit_pattern(mask, width, kind):
    """Random bit patterns include numbers, infinities and NaN; each is left as it was, or becomes minus infinity."""
    patterns = np.random.default_rng(width).integers(0, np.iinfo(kind.dtype).max, (len(mask), width), kind.dtype, True)
    by_kernel, by_numpy = patterns.copy(), patterns.copy()
    MaskedLogits(by_kernel, mask, kind.lanes, kind.infinity).mask(0, len(mask))
    bitmask._fill_by_numpy(by_numpy, kind, mask)
    keeps = [[allowed(mask, row, token_id) for token_id in range(width)] for row in range(len(mask))]
    np.testing.assert_array_equal(by_kernel, np.where(keeps, patterns, kind.infinity))
    np.testing.assert_array_equal(by_numpy, by_kernel)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_a_real_width(share, dtype):
    """Rows may have a gap between them, like a slice of wider scores: the gap is not written to."""
    random = np.random.default_rng(3)
    width, wider = 10_007, 10_050
    keeps = random.random((3, width)) < share
    padded = np.zeros((3, (width + 31) // 32 * 32), dtype=bool)
    padded[:, :width] = keeps
    mask = np.packbits(padded, axis=1, bitorder="little").view(np.uint32)
    scores = random.standard_normal((6, wider)).astype(dtype)
    should = scores.copy()
    should[::2, :width][~keeps] = -np.inf
    apply_token_bitmask(scores[::2, :width], mask)
    np.testing.assert_array_equal(scores, should)


@pytest.mark.parametrize(("words", "width"), [(2, 200), (3, 70), (3, 65), (3, 96), (0, 40)])
def test_masks_narrower_and_wider_than_the_logits(words, width):
    mask = np.random.default_rng(words).integers(0, 2**32, (2, words), dtype=np.uint32)
    logits = np.zeros((2, width), dtype=np.float32)
    should = expected(logits, mask)
    apply_token_bitmask(logits, mask)
    np.testing.assert_array_equal(logits, should)


@pytest.mark.parametrize(("words", "width"), [(4, 70), (4, 96), (1, 0), (4008, 50_257)])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_masks_of_more_tokens_than_there_are_logits(words, width, kind):
    logits = np.zeros((2, width), dtype=np.float32)
    if kind == "torch":
        logits = pytest.importorskip("torch").from_numpy(logits)
    with pytest.raises(VocabularyError, match=f"got {width} logits a row and a mask for more than {32 * (words - 1)}"):
        apply_token_bitmask(logits, np.zeros((2, words), dtype=np.uint32))
    assert not logits.any()


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_logits_of_another_model(kind):
    """Padding is masked; 128,256 logits do not belong to a vocabulary of 32,000 tokens."""
    for width, is_padding in ((32_064, True), (64_000, True), (128_256, False)):
        logits = np.zeros((1, width), dtype=np.float32)
        given = logits if kind == "numpy" else pytest.importorskip("torch").from_numpy(logits)
        mask = allocate_token_bitmask(1, 32_000)
        if is_padding:
            apply_token_bitmask(given, mask)
            assert np.isinf(logits[0, 32_000:]).all()
        else:
            with pytest.raises(VocabularyError, match="128256 logits a row, more than twice the 32000 tokens"):
                apply_token_bitmask(given, mask)
        assert not logits[0, :32_000].any()


def test_allocated_masks_allow_the_vocabulary_and_nothing_else():
    mask = allocate_token_bitmask(2, 70)
    assert mask.shape == (2, 3)
    assert mask.dtype == np.uint32
    assert [allowed(mask, 1, token_id) for token_id in range(96)] == [True] * 70 + [False] * 26
    assert (allocate_token_bitmask(1, 64) == 0xFFFFFFFF).all()
    assert allocate_token_bitmask(0, 1).shape == (0, 1)


@pytest.mark.parametrize(("batch_size", "vocab_size"), [(-1, 10), (1, 0), (1, -5)])
def test_impossible_masks(batch_size, vocab_size):
    with pytest.raises(VocabularyError, match="cannot be allocated"):
        allocate_token_bitmask(batch_size, vocab_size)


def test_a_row_alone_and_a_mask_of_one_row():
    mask = np.array([[0b101]], dtype=np.uint32)
    for logits, given_mask in [(np.zeros(3), mask), (np.zeros(3), mask[0]), (np.zeros((1, 3)), mask[0])]:
        apply_token_bitmask(logits, given_mask)
        assert logits.ravel().tolist() == [0.0, -np.inf, 0.0]


def test_signed_words():
    logits = np.zeros(64, dtype=np.float32)
    apply_token_bitmask(logits, np.array([-(2**31), 1], dtype=np.int32))
    assert np.flatnonzero(logits == 0).tolist() == [31, 32]


def test_strides_of_logits_and_masks():
    mask = np.arange(1, 13, dtype=np.uint32).reshape(4, 3)
    for logits in (np.zeros((8, 96))[::2], np.zeros((96, 4)).T, np.zeros((4, 192))[:, ::2]):
        part = mask[:, ::-1]
        should = expected(logits, part)
        apply_token_bitmask(logits, part)
        np.testing.assert_array_equal(logits, should)


def test_values_that_are_allowed_stay_as_they_are():
    values = np.array([np.nan, np.inf, -np.inf, -0.0, np.nan, np.inf], dtype=np.float32)
    logits = values.copy()
    apply_token_bitmask(logits, np.array([0b001111], dtype=np.uint32))
    np.testing.assert_array_equal(logits[:4].view(np.uint32), values[:4].view(np.uint32))
    assert np.isneginf(logits[4:]).all()


@pytest.mark.parametrize(
    ("logits", "mask", "message"),
    [
        (np.zeros((2, 40)), np.zeros((3, 2), np.uint32), "2 rows of logits and 3 rows of masks"),
        (np.zeros((2, 40)), np.zeros(2, np.uint32), "2 rows of logits and 1 rows of masks"),
        (np.zeros((1, 2, 40)), np.zeros((1, 2), np.uint32), r"shape \(1, 2, 40\)"),
        (np.zeros(40, np.int32), np.zeros(2, np.uint32), "logits of type int32"),
        (np.zeros(40, np.longdouble), np.zeros(2, np.uint32), "logits of type float128|logits of type longdouble"),
        ([0.0] * 40, np.zeros(2, np.uint32), "an array of numpy or a tensor of torch, not list"),
        (np.zeros(40), np.zeros(2, np.uint64), "mask of type uint64"),
        (np.zeros(40), np.zeros((1, 1, 2), np.uint32), "mask of type uint32"),
        (np.zeros(40), [0, 0], "mask of type list"),
    ],
)
def test_what_does_not_fit(logits, mask, message):
    with pytest.raises(VocabularyError, match=message):
        apply_token_bitmask(logits, mask)


def test_masks_to_fill_share_their_memory():
    mask = np.zeros((2, 3), dtype=np.int32)
    as_words(mask, 70)[1, 2] = 0xFFFFFFFF
    assert mask[1, 2] == -1
    assert as_words(mask[0], 70).shape == (1, 3)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((1, 2), np.uint32), "does not fit a vocabulary of 70 tokens"),
        (np.zeros((1, 4), np.uint32), "does not fit"),
        (np.zeros((1, 3), np.float32), "mask of type float32"),
        (np.zeros((1, 6), np.uint32)[:, ::2], "next to each other"),
        (np.broadcast_to(np.zeros(3, np.uint32), (2, 3)), "writeable"),
        (None, "mask of type NoneType"),
    ],
)
def test_masks_that_cannot_be_filled(mask, message):
    with pytest.raises(VocabularyError, match=message):
        as_words(mask, 70)


# -- threads ---------------------------------------------------------------------------------------------------------


@given(rows=st.integers(1, 40), threads=st.integers(1, 5), dtype=st.sampled_from(FLOATS), strided=st.booleans())
def test_threads_write_what_one_writes(rows, threads, dtype, strided):
    random = np.random.default_rng(rows)
    mask = random.integers(0, 2**32, (rows, 3), dtype=np.uint32)
    logits = random.standard_normal((rows, 200 if strided else 100)).astype(dtype)[:, :: 2 if strided else 1]
    alone = logits.copy()
    apply_token_bitmask(alone, mask)
    apply_token_bitmask(logits, mask, threads=threads)
    np.testing.assert_array_equal(logits, alone)


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_impossible_numbers_of_threads(threads, error):
    with pytest.raises(error, match="threads"):
        apply_token_bitmask(np.zeros((2, 32), np.float32), np.zeros((2, 1), np.uint32), threads=threads)


# -- torch -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("width", [90, 96, 101])
def test_torch(torch, dtype, width):
    mask = np.random.default_rng(width).integers(0, 2**32, (3, 3), dtype=np.uint32)
    logits = torch.randn(3, width, dtype=getattr(torch, dtype))
    should = torch.from_numpy(expected(logits.double().numpy(), mask))
    for given_mask in (mask, torch.from_numpy(mask.view(np.int32)), torch.from_numpy(mask)):
        copy = logits.clone()
        apply_token_bitmask(copy, given_mask)
        assert torch.equal(copy.double(), should)
        row = logits[1].clone()
        apply_token_bitmask(row, given_mask[1])
        assert torch.equal(row.double(), should[1])


def test_torch_strides_and_gradients(torch):
    mask = np.array([[0b01], [0b10]], dtype=np.uint32)
    logits = torch.zeros(2, 4)[:, ::2]
    apply_token_bitmask(logits, mask)
    assert logits.tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]
    with_gradient = torch.zeros(2, 2, requires_grad=True)
    apply_token_bitmask(with_gradient, mask)
    assert with_gradient.tolist() == logits.tolist()


def test_a_torch_mask_to_fill(torch):
    mask = torch.zeros(2, 3, dtype=torch.int32)
    as_words(mask, 70)[0, 0] = 0xFFFFFFFF
    assert mask[0, 0] == -1


def test_torch_types_that_do_not_fit(torch):
    with pytest.raises(VocabularyError, match=r"logits of type torch.int64"):
        apply_token_bitmask(torch.zeros(32, dtype=torch.int64), np.zeros(1, np.uint32))
    with pytest.raises(VocabularyError, match="mask of type int64"):
        apply_token_bitmask(torch.zeros(32), torch.zeros(1, dtype=torch.int64))


@pytest.mark.parametrize("width", [0, 50, 90, 96, 101])
def test_other_devices(torch, width):
    """Run the operations for other devices on the CPU, and on a GPU where there is one."""
    mask = np.random.default_rng(width).integers(0, 2**32, (2, 3), dtype=np.uint32)
    logits = torch.randn(2, width)
    should = torch.from_numpy(expected(logits.numpy(), mask))
    here = torch.device("cpu")
    for given_mask in (mask, torch.from_numpy(mask)):
        copy = logits.clone()
        bitmask._mask_on_device(copy, bitmask._tensor_words(given_mask, here))
        assert torch.equal(copy, should)
        if torch.cuda.is_available():
            copy = logits.cuda()
            apply_token_bitmask(copy, given_mask)
            assert torch.equal(copy.cpu(), should)
    with pytest.raises(VocabularyError, match=r"mask of type torch.int64"):
        bitmask._tensor_words(torch.zeros(1, dtype=torch.int64), here)


def test_a_device_without_memory(torch):
    """The `meta` device is handled like other devices, and a mask there cannot be filled."""
    apply_token_bitmask(torch.zeros(2, 90, device="meta"), allocate_token_bitmask(2, 90))
    with pytest.raises(VocabularyError, match="masks are filled on the CPU"):
        as_words(torch.zeros(1, 3, dtype=torch.int32, device="meta"), 90)


def test_public():
    assert structgen.apply_token_bitmask is apply_token_bitmask
    assert structgen.allocate_token_bitmask is allocate_token_bitmask


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 2**32 - 1)), max_size=30), st.integers(0, 3200))
def test_tokens_of_sparse_and_dense_masks(bits, size):
    words = np.zeros(100, np.uint32)
    for at, value in bits:
        words[at] = value
    tokens = [token for token in range(3200) if int(words[token >> 5]) >> (token & 31) & 1]
    assert tokens_of(words).tolist() == tokens
    assert tokens_of(words, size).tolist() == [token for token in tokens if token < size]


def words_of(*tokens):
    words = np.zeros(4, np.uint32)
    for token in tokens:
        words[token >> 5] |= np.uint32(1 << (token & 31))
    return words


def subset_of(*tokens, is_listed=True):
    return TokenSubset(words_of(*tokens), np.array(tokens if is_listed else (), np.int32))


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_mask_is_narrowed_to_many_tokens_or_stays(is_listed):
    for mask, tokens in ((np.full(4, 0xFFFFFFFF, np.uint32), range(1, 99)), (words_of(3, 40), (40, 41, 99))):
        left = sorted(set(tokens_of(mask).tolist()) & set(tokens))
        kept = subset_of(*tokens, is_listed=is_listed).keep(mask)
        assert kept == (left if is_listed and len(left) < 65 else None)
        assert tokens_of(mask).tolist() == left
        assert subset_of(0, is_listed=is_listed).keep(mask) == []
        assert tokens_of(mask).tolist() == left


def test_a_mask_is_narrowed_to_few_tokens():
    mask = words_of(0, 5, 31, 32, 70, 95)
    assert subset_of(5, 6, 31, 64, 70).keep(mask) == tokens_of(mask).tolist() == [5, 31, 70]
    assert subset_of(6).keep(mask) == []
    assert tokens_of(mask).tolist() == [5, 31, 70]
    rows = MaskRows(np.full((2, 4), 0xFFFFFFFF, np.uint32))
    assert rows.keep(1, subset_of(5, 6, 31, 64, 70)) == [5, 6, 31, 64, 70]
    rows.remove(1, 64)
    assert tokens_of(rows.mask[1]).tolist() == [5, 6, 31, 70]
    assert (rows.mask[0] == 0xFFFFFFFF).all()
