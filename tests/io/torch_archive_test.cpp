#include "synergraph/io/torch_archive.h"

#include <gtest/gtest.h>

#include "synergraph/io/atomic_file.h"
#include "synergraph/io/tensor_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/pattern.h"
#include "tests/io/zip_builder.h"

namespace synergraph {
namespace {

TensorFile open_archive(const std::vector<ZipEntry>& entries) {
  return TensorFile::open(memory_bytes("t.pt", build_zip(entries)));
}

/// An archive with this pickle (protocol 2, the STOP added) and a storage '0' of six floats.
TensorFile open_pickle(const std::string& program) {
  return open_archive({{"a/data.pkl", "\x80\x02" + program + "."},
                       {"a/data/0", read_file(data_file("npy_le_f4.npy")).substr(128)}});
}

void refuses(const std::string& part, const std::string& program) {
  expect_input_error("t.pt: " + part, [&] { open_pickle(program); });
}

std::string text(const std::string& value) {
  std::string bytes = "X";
  append_number(bytes, value.size(), 4);
  return bytes + value;
}

std::string integer(std::int64_t value) {
  std::string bytes("\x8a\x08", 2);
  append_number(bytes, static_cast<std::uint64_t>(value), 8);
  return bytes;
}

std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

std::string storage(const std::string& key, std::int64_t elements,
                    const std::string& type = "FloatStorage") {
  return "(" + text("storage") + global("torch", type) + text(key) + text("cpu") +
         integer(elements) + "tQ";
}

/// A tensor of two dimensions over a storage.
std::string tensor(const std::string& stored, std::int64_t first, std::int64_t rows,
                   std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + stored + integer(first) + "(" +
         integer(rows) + integer(columns) + "t(" + integer(row_stride) + integer(column_stride) +
         "t\x89" + global("collections", "OrderedDict") + ")RtR";
}

std::string plain_tensor() {
  return tensor(storage("0", 6), 0, 2, 3, 3, 1);
}

TEST(TorchArchiveTest, HasTheValuesThatTorchSaved) {
  const TensorFile file = TensorFile::open(data_file("state_dict.pt"));
  EXPECT_EQ(file.format(), FileFormat::kTorch);
  EXPECT_EQ(file.tensors().size(), 4U);
  for (const Tensor& parameter : file.tensors()) {
    EXPECT_EQ(parameter.values<double>(), pattern_of(parameter.info())) << parameter.name();
  }
  EXPECT_EQ(file.at("0.weight").shape(), (Shape{2, 3}));
  EXPECT_TRUE(file.metadata().empty());
}

TEST(TorchArchiveTest, LongIntegersOfEveryLengthReadBack) {
  for (int bits = 0; bits < 63; ++bits) {
    const std::int64_t power = std::int64_t{1} << bits;
    for (const std::int64_t value : {power, power - 1, -power, -power - 1}) {
      for (int size = 1; size <= 8; ++size) {  // in bytes, as few as hold it and more
        const int spare = 64 - 8 * size;
        const auto kept = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << spare);
        if (kept >> spare != value) continue;
        std::string number = std::string("\x8a") + static_cast<char>(size);
        append_number(number, static_cast<std::uint64_t>(value), size);
        const TensorFile file = open_pickle("}(" + text("n") + number + "u");
        EXPECT_EQ(file.metadata().at("n"), std::to_string(value)) << size;
      }
    }
  }
  EXPECT_EQ(open_pickle("}(" + text("n") + std::string("\x8a\0", 2) + "u").metadata().at("n"), "0");
}

TEST(TorchArchiveTest, ReadsEveryProtocolAndKindOfTensor) {
  for (const char* protocol : {"2", "3", "4", "5"}) {
    const TensorFile file =
        TensorFile::open(data_file(std::string("checkpoint_protocol") + protocol + ".pt"));
    const auto values = [&](const char* name) { return file.at(name).values<double>(); };
    using Values = std::vector<double>;
    EXPECT_EQ(file.tensors().size(), 15U);
    EXPECT_EQ(values("model.weight"), (Values{-3, -2.5, -2, -1.5, -1, -0.5}));
    EXPECT_EQ(values("model.transposed"), (Values{-3, -2, -1, -2.5, -1.5, -0.5}));
    EXPECT_EQ(values("model.half"), (Values{-3, -2.5, -2}));
    EXPECT_EQ(values("model.bfloat"), (Values{-3, -2.5, -2}));
    EXPECT_EQ(values("model.parameter"), (Values{-3, -2.5}));
    EXPECT_EQ(values("model.attributed"), (Values{-3, -2.5}));
    EXPECT_EQ(values("model.scalar"), (Values{-3}));
    EXPECT_EQ(values("model.empty"), Values{});
    EXPECT_EQ(values("shared.row"), (Values{3, 3.5, 4, 4.5, 5, 5.5}));
    EXPECT_EQ(values("shared.columns"),
              (Values{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5}));
    EXPECT_EQ(values("shared.expanded"), (Values(6, -3)));
    EXPECT_EQ(values("integers.0"), (Values{0, 1, 2, 3}));
    EXPECT_EQ(values("integers.2"), (Values{0, 1, 0, 1}));
    const std::map<std::string, std::string> metadata{
        {"epoch", "3"},
        {"loss", "0.25"},
        {"config.heads", "[4, 8]"},
        {"config.task", "copy"},
        {"config.causal", "true"},
        {"config.seed", "null"},
        {"config.dtype", "torch.float32"},
        {"config.device", "cpu"},
        {"config.shape", "[2, 3]"},
        {"config.big", "(an integer of more than 64 bits)"}};
    EXPECT_EQ(file.metadata(), metadata);
  }
}

TEST(TorchArchiveTest, ReadsSingleTensorsListsAndBigEndianFiles) {
  const TensorFile single = TensorFile::open(data_file("tensor.pt"));
  EXPECT_EQ(single.at("").values<double>(), pattern_of(single.at("").info()));
  const TensorFile list = TensorFile::open(data_file("list.pt"));
  EXPECT_EQ(list.at("1").values<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  const TensorFile big = TensorFile::open(data_file("big_endian.pt"));
  EXPECT_EQ(big.at("").values<double>(), pattern_of(big.at("").info()));
}

TEST(TorchArchiveTest, FindsThePrefixOfParameters) {
  const TensorFile nested = TensorFile::open(data_file("checkpoint_protocol2.pt"));
  EXPECT_EQ(nested.prefix_of("half"), "model.");
  EXPECT_EQ(nested.prefix_of("model.half"), "");
  expect_input_error("no tensor 'ghost'", [&] { (void)nested.prefix_of("ghost"); });
  const std::string two = "}(" + text("ema.w") + plain_tensor() + text("model.w") + plain_tensor();
  EXPECT_EQ(open_pickle(two + "u").prefix_of("w"), "model.");
  const std::string unclear = "}(" + text("a.w") + plain_tensor() + text("b.w") + plain_tensor();
  expect_input_error("2 tensors are called 'w' after a prefix such as 'a.'",
                     [&] { (void)open_pickle(unclear + "u").prefix_of("w"); });
}

TEST(TorchArchiveTest, RefusesToLoadAnythingElseByName) {
  const auto refuses_file = [](const char* file, const std::string& name) {
    expect_input_error("refuses to load global '" + name + "'",
                       [&] { TensorFile::open(data_file(file)); });
  };
  refuses_file("os_system.pt", "posix.system");
  refuses_file("eval.pt", "builtins.eval");
  refuses_file("whole_module.pt", "torch.nn.modules.linear.Linear");
  expect_input_error("from before version 1.6",
                     [] { TensorFile::open(data_file("before_1_6.pt")); });

  refuses("'a/data.pkl': byte 2: refuses to load global 'os.system'",
          global("os", "system") + "(" + text("true") + "tR");
  refuses("'a/data.pkl': byte 20: refuses to load global 'os.system'",
          text("os") + text("system") + "\x93");
  refuses("'a/data.pkl': byte 2: refuses to load global 'my\\x1b.Class'",
          global("my\x1b", "Class"));
  refuses("'a/data.pkl': byte 2: refuses to load global 'torch.load'", global("torch", "load"));
  refuses("'a/data.pkl': byte 2: refuses to load global 'torch.FloatStorage.x'",
          global("torch.FloatStorage", "x"));
  refuses("'a/data.pkl': byte 3: refuses to make an object", "(ios\nsystem\n");
  refuses("'a/data.pkl': byte 28: refuses to make an object",
          global("collections", "OrderedDict") + ")\x81");
  refuses("'a/data.pkl': byte 2: refuses an extension code", "\x82\x01");
  refuses("'a/data.pkl': byte 2: opcode 0x50 is not read", "Pid\n");
}

TEST(TorchArchiveTest, RefusesCallsWithOtherArguments) {
  refuses("'a/data.pkl': unexpected arguments for 'torch.FloatStorage'",
          global("torch", "FloatStorage") + ")R");
  refuses("'a/data.pkl': unexpected arguments for 'collections.OrderedDict'",
          global("collections", "OrderedDict") + "(NtR");
  refuses("'a/data.pkl': unexpected arguments for 'torch._utils._rebuild_tensor_v2'",
          global("torch._utils", "_rebuild_tensor_v2") + "(NtR");
  refuses("'a/data.pkl': unexpected arguments for 'torch._tensor._rebuild_from_type_v2'",
          global("torch._tensor", "_rebuild_from_type_v2") + "(" + global("torch", "device") +
              global("torch", "Tensor") + "(" + text("cpu") + "t}tR");
  refuses("'a/data.pkl': unexpected arguments for 'persistent id'", text("0") + "Q");
  refuses("'a/data.pkl': byte 4: a call of what is no function", "N)R");
}

TEST(TorchArchiveTest, RebuildsUntypedStorages) {
  const TensorFile file = open_pickle(
      global("torch._utils", "_rebuild_tensor_v3") + "(" + storage("0", 24, "UntypedStorage") +
      "K\x01K\x02\x85K\x01\x85\x89)" + global("torch", "float32") + "}tR");
  EXPECT_EQ(file.at("").values<double>(), (std::vector<double>{-2.5, -2}));
}

TEST(TorchArchiveTest, RefusesTensorsOutsideTheirStorage) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_NO_THROW(open_pickle(plain_tensor()));
  const std::string stored = storage("0", 6);
  for (const std::string& bad :
       {tensor(stored, 1, 2, 3, 3, 1), tensor(stored, 0, 2, 4, 3, 1),
        tensor(stored, -1, 1, 1, 1, 1), tensor(stored, 0, 2, 3, -3, 1),
        tensor(stored, kHuge, 2, 3, 3, 1), tensor(stored, 0, kHuge / 8, 1, kHuge, 1)}) {
    refuses("tensor 'x': its elements reach outside", "}" + text("x") + bad + "s");
  }
  refuses("tensor 'x': the shape (4294967296, 4294967296) is too large",
          "}" + text("x") + tensor(stored, 0, std::int64_t{1} << 32, std::int64_t{1} << 32, 0, 0) +
              "s");
  refuses("'x': 1073741824 elements repeat a storage of 24 bytes",
          "}" + text("x") + tensor(stored, 0, std::int64_t{1} << 30, 1, 0, 0) + "s");
  refuses("'x': no storage '../0'",
          "}" + text("x") + tensor(storage("../0", 6), 0, 1, 1, 1, 1) + "s");
  refuses("'x': storage '0' has 24 bytes, not 7 float32",
          "}" + text("x") + tensor(storage("0", 7), 0, 1, 1, 1, 1) + "s");
  refuses("'x': storage '0' has 24 bytes, not 2305843009213693958 float64",
          "}" + text("x") +
              tensor(storage("0", (std::int64_t{1} << 61) + 6, "DoubleStorage"), 0, 1, 1, 1, 1) +
              "s");
}

TEST(TorchArchiveTest, RefusesNamesThatOccurTwice) {
  refuses("tensor 'w' occurs twice",
          "}(" + text("w") + plain_tensor() + text("w") + plain_tensor() + "u");
  refuses("tensor 'a.b' occurs twice", "}(" + text("a.b") + plain_tensor() + text("a") + "}" +
                                           text("b") + plain_tensor() + "su");
  refuses("'k': occurs twice", "}(" + text("k") + "K\x01" + text("k") + "K\x02u");
}

TEST(TorchArchiveTest, ObjectsThatContainThemselvesAreAnError) {
  refuses("'0': contains itself", "]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "]";
  for (int i = 1; i < 100000; ++i) deep += "a";
  refuses("'0.0.0.0.0.", deep);
}

TEST(TorchArchiveTest, RepeatedDoublingIsAnError) {
  // Each list holds the one before it twice: 2^60 leaves in a few hundred bytes.
  std::string laughs = "]" + text("ha") + "a";
  for (int i = 0; i < 60; ++i) {
    laughs += "q" + std::string(1, static_cast<char>(i)) + "0](h" +
              std::string(1, static_cast<char>(i)) + "h" + std::string(1, static_cast<char>(i)) +
              "e";
  }
  refuses("the pickled object unfolds beyond the limits", laughs);
  // A long name, used for many tensors.
  std::string names = "](";
  names += "}" + text(std::string(4000, 'n')) + plain_tensor() + "sq" + std::string(1, '\0');
  for (int i = 0; i < 20000; ++i) names += "h" + std::string(1, '\0');
  refuses("the pickled object unfolds beyond the limits", names + "e");
  refuses("'nnnnnnnn", "}" + text(std::string(5000, 'n')) + plain_tensor() + "s");
}

TEST(TorchArchiveTest, RefusesBrokenPickles) {
  refuses("'a/data.pkl': byte 2: it does not end with one object", "");
  refuses("'a/data.pkl': byte 4: it does not end with one object", "NN");
  refuses("'a/data.pkl': byte 2: nothing left on the stack", "0");
  refuses("'a/data.pkl': byte 2: no mark on the stack", "t");
  refuses("'a/data.pkl': byte 2: nothing was kept under 7", "h\x07");
  refuses("'a/data.pkl': byte 4: items are added", "NNa");
  refuses("'a/data.pkl': byte 5: a key without a value", "}(Nu");
  refuses("'a/data.pkl': byte 4: attributes for what has none", "NNb");
  refuses("'a/data.pkl': byte 2: it ends early", "X\xff\xff\xff\xff");
  refuses("'a/data.pkl': byte 2: it ends early", "\x8d" + std::string(8, '\xff'));
  refuses("'a/data.pkl': byte 2: it ends early", "\x8b" + std::string("\xff\xff\xff\x7f"));
  refuses("'a/data.pkl': byte 2: it ends early", "cos");
  const auto refuses_bytes = [](const std::string& part, const std::string& bytes) {
    expect_input_error(part, [&] { open_archive({{"data.pkl", bytes}}); });
  };
  refuses_bytes("protocol 6: 2 to 5", "\x80\x06N.");
  refuses_bytes("does not begin with a protocol", "N.");
  refuses_bytes("it ends early", "");
  refuses_bytes("it ends early", "\x80");
}

TEST(TorchArchiveTest, RefusesTooManyObjects) {
  const std::size_t count = (std::size_t{1} << 21) + 1;
  refuses("'a/data.pkl': more than 2097152 objects", std::string(count, 'N'));
  refuses("'a/data.pkl': byte 2097154: too many marks", std::string(count, '('));
  refuses("'a/data.pkl': byte 2097154: too much on the stack", "N" + std::string(count, '2'));
}

TEST(TorchArchiveTest, RefusesBadArchives) {
  const ZipEntry pickle{"a/data.pkl", "\x80\x02N."};
  expect_input_error("two pickles", [&] { open_archive({pickle, {"b/data.pkl", "\x80\x02N."}}); });
  expect_input_error("byteorder is 'middle'", [&] {
    open_archive({pickle, {"a/byteorder", "middle"}});
  });
  expect_input_error("member 'a/byteorder': 100 bytes, the limit is 16", [&] {
    open_archive({pickle, {"a/byteorder", std::string(100, 'x')}});
  });
  ZipEntry compressed{"a/data/0", std::string("\x03\x00", 2), 8};
  compressed.declared = 24;
  expect_input_error("its storage is compressed", [&] {
    open_archive({{"a/data.pkl", "\x80\x02" + plain_tensor() + "."}, compressed});
  });
  ZipEntry huge{"a/data.pkl", std::string(100000, 'x'), 8};
  huge.declared = (1U << 26U) + 1;
  expect_input_error("the limit is 67108864", [&] { open_archive({huge}); });
}

TEST(TorchArchiveTest, RefusesEveryTruncation) {
  for (const char* name : {"tensor.pt", "big_endian.pt"}) {
    const std::string whole = read_file(data_file(name));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(TensorFile::open(memory_bytes("t.pt", whole.substr(0, size))), InputError)
          << size;
    }
  }
  // The pickle alone, cut anywhere, in a sound archive.
  const std::string program = "\x80\x02" + plain_tensor() + ".";
  for (std::size_t size = 0; size < program.size(); ++size) {
    EXPECT_THROW(
        open_archive({{"a/data.pkl", program.substr(0, size)}, {"a/data/0", std::string(24, 'x')}}),
        InputError)
        << size;
  }
}

}  // namespace
}  // namespace synergraph
