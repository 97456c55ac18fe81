import { expect, it } from 'vitest';
import { callFormat, loadFormat } from './formats.ts';
import type { EditCall, EditOptions, EditResult } from './formats.ts';

/** Cases of rules that generated files meet too rarely. */
interface Rule {
  readonly rule: string;
  readonly call: EditCall;
  readonly result: EditResult;
}

const byId: EditOptions = { identity: ['id'] };
const merged = (text: string): EditResult => ({ value: text });
const removed = (text: string, ...left: string[]): EditResult => ({ value: [text, left] });
const refused = (refusal: string): EditResult => ({ refusal });

function call(format: EditCall['format'], name: EditCall['name'], texts: readonly string[], options = {}): EditCall {
  return { format, name, texts, options };
}

const json: readonly Rule[] = [
  {
    rule: 'an entry that was there before keeps what its tool added',
    call: call('json', 'remove', ['[{"id":"m","k":1,"new":2}]', '[{"id":"m","k":1}]', '[{"id":"m","k":1}]'], byId),
    result: removed('[{"id":"m","k":1,"new":2}]'),
  },
  {
    rule: 'a value that equals the earlier one keeps its writing',
    call: call('json', 'remove', ['{"a":1}', '{"a":1}', '{"a":1.0}']),
    result: removed('{"a":1}'),
  },
  {
    rule: 'a changed value that the file had before as well is not named',
    call: call('json', 'remove', ['{"a":2}', '{"a":1}', '{"a":2.0}']),
    result: removed('{"a":2}'),
  },
  {
    rule: 'one entry does not stand for two wanted ones',
    call: call('json', 'merge', ['[{"id":"m","url":3}]', '[{"id":"m","url":1},{"id":"m","url":2}]'], byId),
    result: merged('[{"id":"m","url":1},{"id":"m","url":2}]'),
  },
  {
    rule: 'numbers identify entries, however they are written',
    call: call('json', 'merge', ['[{"id":1.0}]', '[{"id":1,"k":2}]'], byId),
    result: merged('[{"id":1,"k":2}]'),
  },
  {
    rule: 'numbers that only look the same when read are different',
    call: call('json', 'merge', ['{"a":12345678901234567890}', '{"a":12345678901234567891}']),
    result: merged('{"a":12345678901234567891}'),
  },
  {
    rule: 'an indented file is not indented twice',
    call: call('json', 'merge', ['  {\n    "a": {}\n  }', '{"a":{"b":1}}']),
    result: merged('  {\n    "a": {\n      "b": 1\n    }\n  }'),
  },
  {
    rule: 'a comma at the start of a line goes with its line',
    call: call('json', 'remove', ['{"a":1\n  ,"k":1\n  ,"b":2\n}', '{"k":1}', '{"a":1\n  ,"b":2\n}']),
    result: removed('{"a":1\n  ,"b":2\n}'),
  },
  {
    rule: 'an earlier value gets the line ends that the file has now',
    call: call('json', 'remove', ['{\r\n"a":1\r\n}', '{"a":1}', '{\n"a":{\n"b":2\n}\n}']),
    result: removed('{\r\n"a":{\r\n"b":2\r\n}\r\n}'),
  },
  {
    rule: 'the inside of an object that was empty gets the line ends that the file has now',
    call: call('json', 'remove', ['{"z":0,\r\n"a":{"k":1}}', '{"a":{"k":1}}', '{"z":0,\n"a":{\n}}']),
    result: removed('{"z":0,\r\n"a":{\r\n}}'),
  },
  {
    rule: 'an earlier value keeps its line ends where the file has both',
    call: call('json', 'remove', ['{\n"a":1\r\n}', '{"a":1}', '{"a":[\r\n]\r\n}']),
    result: removed('{\n"a":[\r\n]\r\n}'),
  },
  {
    rule: 'comments that were alone in the file get the line ends that it has now',
    call: call('json', 'remove', ['// c\r\n{"a":1}\r\n', '{"a":1}', '// c\n']),
    result: removed('// c\r\n'),
  },
  {
    rule: 'an entry with a member twice equals no other',
    call: call('json', 'merge', ['[{"id":"m","k":1,"k":2}]', '[{"id":"m","k":2}]'], byId),
    result: merged('[{"id":"m","k":2}]'),
  },
  {
    rule: 'a comment alone in brackets keeps its place',
    call: call('json', 'merge', ['{"z":1,"env":{/* c */}}', '{"env":{"A":1}}']),
    result: merged('{"z":1,"env":{/* c */"A":1}}'),
  },
  {
    rule: 'the largest number that is exact is the same with a fraction',
    call: call('json', 'missing', ['{"a":9007199254740991.0}', '{"a":9007199254740991}']),
    result: { value: [] },
  },
  {
    rule: 'a number beyond it is not',
    call: call('json', 'missing', ['{"a":9007199254740992.0}', '{"a":9007199254740992}']),
    result: { value: ['a'] },
  },
  {
    rule: 'an earlier value gives up its CRLF where the file has none now',
    call: call('json', 'remove', ['{\n"a":1\n}', '{"a":1}', '{\r\n"a":[\r\n]\r\n}']),
    result: removed('{\n"a":[\n]\n}'),
  },
  {
    rule: 'settings that are gone from a file of comments stay gone',
    call: call('json', 'remove', ['// c\n', '{"a":1}', '{"a":0}']),
    result: removed('// c\n'),
  },
];

const model = 'model = "m"\n';
const toml: readonly Rule[] = [
  {
    rule: 'a blank line that ended the file stays',
    call: call('toml', 'remove', ['a = 1\n\n[t]\nkey = "k"\n# added\n', '[t]\nkey = "k"\n', 'a = 1\n\n']),
    result: removed('a = 1\n\n# added\n'),
  },
  {
    rule: 'a blank line below keys that others deleted stays',
    call: call('toml', 'remove', ['model = "m"\n\n[t]\n', model, 'a = 1\n\n[t]\n']),
    result: removed('\n[t]\n'),
  },
  {
    rule: 'a header goes that made a table explicit',
    call: call('toml', 'remove', ['[a.b]\nx = 1\n\n[a]\nkey = "k"\n# added\n', '[a]\nkey = "k"\n', '[a.b]\nx = 1\n']),
    result: removed('[a.b]\nx = 1\n# added\n'),
  },
  {
    rule: 'a table is no array of tables',
    call: call('toml', 'merge', ['[a]\n[[a]]\n', model]),
    result: refused('line 2, column 1: The key or table is defined twice.'),
  },
  {
    rule: 'a value has no keys',
    call: call('toml', 'merge', ['[t]\na = 1\na.b = 2\n', model]),
    result: refused('line 3, column 1: The key or table is defined twice.'),
  },
  {
    rule: 'a number of eighty digits is not read',
    call: call('toml', 'merge', [`x = ${'1'.repeat(80)}\n`, model]),
    result: refused('line 1, column 5: A value is missing or not valid.'),
  },
  {
    rule: 'five quotes end a string with two of them',
    call: call('toml', 'merge', ['x = """a"""""\n', model]),
    result: merged('x = """a"""""\nmodel = "m"\n'),
  },
  {
    rule: 'six quotes do not',
    call: call('toml', 'merge', ['x = """a""""""\n', model]),
    result: refused('line 1, column 14: The line continues unexpectedly.'),
  },
  {
    rule: 'half of a surrogate pair is no character',
    call: call('toml', 'merge', ['x = "\\ud800"\n', model]),
    result: refused('line 1, column 6: The escape sequence is not valid.'),
  },
  {
    rule: 'a file that had only whitespace has it again',
    call: call('toml', 'remove', [model, `${model}\n[t]\na = 1\n`, ' \r\t']),
    result: removed(' \r\t'),
  },
  {
    rule: 'a blank line above the second table goes also where the file ended with one',
    call: call('toml', 'remove', ['a = 2\n\n[t]\nx = 1\n\n[u]\nx = 1\n', '[t]\nx = 1\n\n[u]\nx = 1\n', 'a = 1\n\n']),
    result: removed('a = 2\n\n'),
  },
  {
    rule: 'a line of tabs is a blank line',
    call: call('toml', 'merge', ['a = 1\n\t\n', '[t]\nkey = "k"\n']),
    result: merged('a = 1\n\t\n[t]\nkey = "k"\n'),
  },
  {
    rule: 'tabs stand around values and at joined lines',
    call: call('toml', 'missing', ['model = """a\\\t\n\tb"""\nx = [\t1\t,\t2 ]\n', 'model = "ab"\n']),
    result: { value: [] },
  },
  {
    rule: 'the first line end of a long string is no part of it',
    call: call('toml', 'missing', ["model = '''\nm'''\n", model]),
    result: { value: [] },
  },
  {
    rule: 'a value in an inline table has no keys',
    call: call('toml', 'merge', ['x = {a = 1, a.b = 2}\n', model]),
    result: refused('line 1, column 13: The key is there twice.'),
  },
  {
    rule: 'the blank line that came with the keys goes with its CRLF',
    call: call('toml', 'remove', ['model = "m"\r\n\r\n[t]\r\na = 2\r\n', model, '[t]\r\na = 1\r\n']),
    result: removed('[t]\r\na = 2\r\n'),
  },
  {
    rule: 'a comment that is indented by a tab introduces a table too',
    call: call('toml', 'merge', ['\t# c\n[t]\n', model]),
    result: merged('model = "m"\n\n\t# c\n[t]\n'),
  },
  {
    rule: 'a last line comes back without its end',
    call: call('toml', 'remove', ['a = 1\nmodel = "m"\n', model, 'a = 1']),
    result: removed('a = 1'),
  },
  {
    rule: 'a key is there once',
    call: call('toml', 'merge', ['a = 1\n"a" = 2\n', model]),
    result: refused('line 2, column 1: The key or table is defined twice.'),
  },
  {
    rule: 'a table does not become a value',
    call: call('toml', 'merge', ['[model.x]\n', model]),
    result: refused('line 1, column 1: model is a table here, not a value.'),
  },
];

const name = 'name: "m"\n';
const yaml: readonly Rule[] = [
  {
    rule: 'an entry goes with the members that were added to it',
    call: call('yaml', 'remove', ['- id: m\n  k: 1\n  new: 2\n- id: n\n', '- id: m\n  k: 1\n', '- id: n\n'], byId),
    result: removed('- id: n\n'),
  },
  {
    rule: 'an entry that was there before keeps what its tool added',
    call: call('yaml', 'remove', ['- id: m\n  k: 1\n  new: 2\n', '- id: m\n  k: 1\n', '- id: m\n  k: 1\n'], byId),
    result: removed('- id: m\n  k: 1\n  new: 2\n'),
  },
  {
    rule: 'an entry that was replaced comes back without the members that were added since',
    call: call('yaml', 'remove', ['- id: m\n  k: 1\n  new: 2\n', '- id: m\n  k: 1\n', '- id: m\n  k: 3\n'], byId),
    result: removed('- id: m\n  k: 3\n'),
  },
  {
    rule: 'a list is not continued behind a block scalar without a line end',
    call: call('yaml', 'merge', ['models:\n- id: a\n  t: |\n    x', 'models:\n  - id: "m"\n'], byId),
    result: refused('line 3, column 6: The last value has no line end.'),
  },
  {
    rule: 'an item that is as before is not named',
    call: call('yaml', 'remove', ['- id: "m"\n  k: 1\n', '- id: "m"\n  k: 2\n', '- id: "m"\n  k: 1\n'], byId),
    result: removed('- id: "m"\n  k: 1\n'),
  },
  {
    rule: 'a value that was empty leaves no space',
    call: call('yaml', 'remove', ['a: "x" # c\nb: 1\n', 'a: "x"\n', 'a:\nb: 1\n']),
    result: removed('a: # c\nb: 1\n'),
  },
  {
    rule: 'the first of two items with the members of a wanted one counts',
    call: call(
      'yaml',
      'remove',
      ['- id: "m"\n  k: 1\n  x: 2\n- id: "m"\n  k: 1\n', '- id: "m"\n  k: 1\n', '- id: "m"\n  k: 1\n  x: 2\n'],
      byId,
    ),
    result: removed('- id: "m"\n  k: 1\n  x: 2\n- id: "m"\n  k: 1\n'),
  },
  {
    rule: 'a field with an anchor identifies nothing',
    call: call('yaml', 'merge', ['- k: 1\n  &a id: "m"\n', '- id: "m"\n  k: 2\n'], byId),
    result: merged('- k: 1\n  &a id: "m"\n- id: "m"\n  k: 2\n'),
  },
  {
    rule: 'block scalars are not read, and so none equals another',
    call: call('yaml', 'merge', ['- id: "b"\n  t: |\n    x\n', '- id: "m"\n  t: |\n    x\n'], byId),
    result: merged('- id: "b"\n  t: |\n    x\n- id: "m"\n  t: |\n    x\n'),
  },
  {
    rule: 'a map in brackets has each key once',
    call: call('yaml', 'merge', ['x: {a: 1, a: 2}\n', name]),
    result: refused('line 1, column 11: The key is there twice.'),
  },
  {
    rule: 'an inner bracket does not end in the column of the key',
    call: call('yaml', 'merge', ['x: [\n  [a\n]]\n', name]),
    result: refused('line 3, column 1: The line is not indented enough.'),
  },
  {
    rule: 'a value has one anchor',
    call: call('yaml', 'merge', ['x: &a &b c\n', name]),
    result: refused('line 1, column 9: The value has two anchors or tags.'),
  },
  {
    rule: 'a blank line does not begin a block scalar',
    call: call('yaml', 'merge', ['x: |\n     \n  a\n', name]),
    result: refused('line 3, column 1: A blank line before this one has more spaces.'),
  },
  {
    rule: 'a block scalar without its last line end is continued by a line',
    call: call('yaml', 'merge', ['x: |-\n  a', name]),
    result: merged('x: |-\n  a\nname: "m"\n'),
  },
  {
    rule: 'a block scalar with all its line ends keeps them in front of a comment',
    call: call('yaml', 'merge', ['name: |+\n  a\n\n# c\n', name]),
    result: merged('name: "m"\n# c\n'),
  },
  {
    rule: 'a number is no text',
    call: call('yaml', 'missing', ['name: 1e3\n', 'name: "1e3"\n']),
    result: { value: ['name'] },
  },
  {
    rule: 'a sign that some parsers know is no text',
    call: call('yaml', 'missing', ['name: =\n', 'name: "="\n']),
    result: { value: ['name'] },
  },
  {
    rule: 'an earlier value gets the line ends that the file has now',
    call: call('yaml', 'remove', ['name: "m"\r\nx: 1\r\n', name, 'name: "a\n  b"\n']),
    result: removed('name: "a\r\n  b"\r\nx: 1\r\n'),
  },
  {
    rule: 'brackets that were there instead of a list get the line ends that the file has now',
    call: call('yaml', 'remove', ['a:\r\n  - id: 1\r\nb: 2\r\n', 'a:\n  - id: 1\n', 'a: [\n  ]\n'], byId),
    result: removed('a: [\r\n  ]\r\nb: 2\r\n'),
  },
  {
    rule: 'a file that had only whitespace gives no reason to refuse',
    call: call('yaml', 'remove', ['name: "m"\nx: 1\n', name, '\t\n \r']),
    result: removed('x: 1\n'),
  },
  {
    rule: 'a file that had only whitespace has it again',
    call: call('yaml', 'remove', ['name: m\n', name, '\t\n']),
    result: removed('\t\n'),
  },
  {
    rule: 'comments and blank lines need no indentation in brackets',
    call: call('yaml', 'merge', ['x: [\n# c\n\n  a]\n', name]),
    result: merged('x: [\n# c\n\n  a]\nname: "m"\n'),
  },
  {
    rule: 'a hash or a colon within a word belongs to it',
    call: call('yaml', 'missing', ['x: [a#b, c:d]\nname: a#b:c\n', 'name: "a#b:c"\n']),
    result: { value: [] },
  },
  {
    rule: 'an item in brackets does not begin with a dash and a tab',
    call: call('yaml', 'merge', ['x: [-\ta]\n', name]),
    result: refused('line 1, column 5: A value is missing or not valid.'),
  },
  {
    rule: 'a comment behind the byte order mark introduces the first item',
    call: call('yaml', 'merge', ['\ufeff# c\n- id: a\n', '- id: "m"\n'], { ...byId, at: 'start' }),
    result: merged('\ufeff- id: "m"\n# c\n- id: a\n'),
  },
  {
    rule: 'booleans are the same in each way of writing them',
    call: call('yaml', 'missing', ['a: True\nb: FALSE\n', 'a: true\nb: false\n']),
    result: { value: [] },
  },
  {
    rule: 'spaces at the end of a line in quotes are no part of the text',
    call: call('yaml', 'missing', ['name: "a \t\n  b"\n', 'name: "a b"\n']),
    result: { value: [] },
  },
  {
    rule: 'a blank line in a text without quotes is a line end',
    call: call('yaml', 'missing', ['name: a\n\n  b\n\n\n  c\n', 'name: "a\\nb\\n\\nc"\n']),
    result: { value: [] },
  },
  {
    rule: 'a blank line as deep as the first one begins a block scalar',
    call: call('yaml', 'merge', ['x: |\n  \n  a\n', name]),
    result: merged('x: |\n  \n  a\nname: "m"\n'),
  },
  {
    rule: 'a value does not begin with a reserved sign',
    call: call('yaml', 'merge', ['x: @a\n', name]),
    result: refused('line 1, column 4: A value cannot begin like this.'),
  },
  {
    rule: 'a tab ends a value before a comment',
    call: call('yaml', 'missing', ['name: m\t# c\n', name]),
    result: { value: [] },
  },
  {
    rule: 'a tab may stand in front of a colon',
    call: call('yaml', 'missing', ["'na''me'\t: m\n\"x\\\"y\" : 1\n", 'na\'me: "m"\n']),
    result: { value: [] },
  },
  {
    rule: 'a key with an anchor is not ours any more',
    call: call('yaml', 'remove', ['&k name: "m"\nx: 1\n', name, 'x: 0\n']),
    result: removed('&k name: "m"\nx: 1\n', 'name'),
  },
  {
    rule: 'a map is not a list',
    call: call('yaml', 'merge', ['a: 1\n', '- id: "m"\n'], byId),
    result: refused('line 1, column 1: The file is not a list.'),
  },
  {
    rule: 'settings are not taken out of a file that became a list',
    call: call('yaml', 'remove', ['- a\n', name, 'x: 1\n']),
    result: refused('line 1, column 1: The file is not a map.'),
  },
  {
    rule: 'a last line keeps its missing end where nothing is added',
    call: call('yaml', 'merge', ['name: "m"', name]),
    result: merged('name: "m"'),
  },
  {
    rule: 'maps may be 64 levels deep',
    call: call('yaml', 'merge', [Array.from({ length: 66 }, (_, level) => `${' '.repeat(level)}a:\n`).join(''), name]),
    result: refused('line 66, column 66: Values are nested too deeply.'),
  },
  {
    rule: 'a dash and a tab begin no value',
    call: call('yaml', 'merge', ['x: -\ta\n', name]),
    result: refused('line 1, column 4: A value cannot begin like this.'),
  },
  {
    rule: 'a colon and a tab begin a value',
    call: call('yaml', 'merge', ['x: a:\tb\n', name]),
    result: refused('line 1, column 5: A second key is in this line.'),
  },
  {
    rule: 'a key may end with a quote',
    call: call('yaml', 'merge', ["\"x\\\"\": 1\n'a''': 2\n", name]),
    result: merged('"x\\"": 1\n\'a\'\'\': 2\nname: "m"\n'),
  },
  {
    rule: 'a comment in the first line introduces the first item',
    call: call('yaml', 'merge', ['# c\n- id: a\n', '- id: "m"\n'], { ...byId, at: 'start' }),
    result: merged('- id: "m"\n# c\n- id: a\n'),
  },
  {
    rule: 'a key is there once',
    call: call('yaml', 'merge', ['a: 1\n"a": 2\n', name]),
    result: refused('line 2, column 1: The key is there twice.'),
  },
  {
    rule: 'a file is one document',
    call: call('yaml', 'merge', ['a: 1\n---\nb: 2\n', name]),
    result: refused('line 2, column 1: The file has several documents.'),
  },
  {
    rule: 'a blank line in quotes is a line end',
    call: call('yaml', 'missing', ['name: "a\n\n  b\n\n\n  c"\n', 'name: "a\\nb\\n\\nc"\n']),
    result: { value: [] },
  },
  {
    rule: 'a list without a value is filled',
    call: call('yaml', 'merge', ['a: # c\nb: 1\n', 'a:\n  - id: "m"\n'], byId),
    result: merged('a: # c\n  - id: "m"\nb: 1\n'),
  },
  {
    rule: 'a list in empty brackets is filled',
    call: call('yaml', 'merge', ['a: [ ] # c\nb: 1\n', 'a:\n  - id: "m"\n'], byId),
    result: merged('a: # c\n  - id: "m"\nb: 1\n'),
  },
];

const rules = [...json, ...toml, ...yaml];

it.each(rules)('in $call.format, $rule', async ({ call: one, result }) => {
  expect(callFormat(await loadFormat(one.format), one)).toEqual(result);
});
