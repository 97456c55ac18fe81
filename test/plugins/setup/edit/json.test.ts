import { describe, expect, it } from 'vitest';
import { json } from '../../../../plugins/setup/script/edit/json.mjs';

const { merge, missing, remove } = json;

const env = '{\n  "env": {\n    "URL": "https://x",\n    "KEY": "k"\n  }\n}\n';
const model = '{ "model": "m" }';
const models = '{ "models": [{ "id": "m", "url": "u", "key": "k" }] }';
const identity = ['id', 'url'];

/** Merges, expects the way back, and returns the merged file. */
function mergeThereAndBack(file: string, wanted: string, options = {}): string {
  const merged = merge(file, wanted, options);
  expect(remove(merged, wanted, file, options)).toEqual({ text: file, left: [] });
  return merged;
}

function nested(levels: number): string {
  return `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
}

describe('new setting', () => {
  it('a new setting becomes the last member, in the indentation of the file', () => {
    expect(mergeThereAndBack('{\n    "theme": "dark"\n}', env)).toBe(
      '{\n    "theme": "dark",\n    "env": {\n        "URL": "https://x",\n        "KEY": "k"\n    }\n}',
    );
    expect(mergeThereAndBack('{\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n', env)).toBe(
      '{\n\t"env": {\n\t\t"A": "1",\n\t\t"URL": "https://x",\n\t\t"KEY": "k"\n\t}\n}\n',
    );
  });

  it('a new setting stays on the line of an object on one line, with its spaces', () => {
    expect(mergeThereAndBack('{"a":1}', models)).toBe('{"a":1,"models":[{"id":"m","url":"u","key":"k"}]}');
    expect(mergeThereAndBack('{ "a": 1 }', model)).toBe('{ "a": 1, "model": "m" }');
    expect(mergeThereAndBack('{\n  "env": {}\n}', '{"env":{"A":"1"}}')).toBe('{\n  "env": {\n    "A": "1"\n  }\n}');
    expect(mergeThereAndBack('{"env":{},"b":[]}', '{"env":{"A":"1"}}')).toBe('{"env":{"A":"1"},"b":[]}');
  });

  it('a new setting stands behind the comments of the last member, whose comma is directly behind its value', () => {
    expect(mergeThereAndBack('{\n  "a": 1 // one\n  // "b": 2\n}\n', model)).toBe(
      '{\n  "a": 1, // one\n  // "b": 2\n  "model": "m"\n}\n',
    );
    expect(mergeThereAndBack('{"a":1 /* one */}', model)).toBe('{"a":1, /* one */"model":"m"}');
    expect(mergeThereAndBack('{"a":1 // one\n}', model)).toBe('{"a":1, // one\n  "model":"m"\n}');
  });

  it('a new setting has a trailing comma where the last member had one', () => {
    expect(mergeThereAndBack('{\n  "a": 1, // one\n}', model)).toBe('{\n  "a": 1, // one\n  "model": "m",\n}');
    expect(mergeThereAndBack('{"a":1,}', model)).toBe('{"a":1,"model":"m",}');
  });

  it('a new setting fills an empty object, whose inside comes back', () => {
    const filled = '{\n  "model": "m"\n}';
    expect(['{}', '{ }', '{\n}'].map((file) => mergeThereAndBack(file, model))).toEqual([filled, filled, filled]);
    expect(mergeThereAndBack('{\n  // nothing yet\n}\n', model)).toBe('{\n  // nothing yet\n  "model": "m"\n}\n');
    expect(mergeThereAndBack('{ /* nothing */ }', model)).toBe('{ /* nothing */\n  "model": "m"\n}');
  });

  it('a new setting has the line ends of the file, whose byte order mark stays', () => {
    expect(mergeThereAndBack('\ufeff{\r\n  "a": 1\r\n}\r\n', model)).toBe(
      '\ufeff{\r\n  "a": 1,\r\n  "model": "m"\r\n}\r\n',
    );
  });
});

describe('file without a value', () => {
  it('a JSON file without a value becomes the settings', () => {
    expect(merge(undefined, env)).toBe(env);
    expect(['', '\n', ' \t\n\n'].map((file) => mergeThereAndBack(file, env))).toEqual([env, env, env]);
    expect(mergeThereAndBack('\ufeff\r\n', '{\n}')).toBe('\ufeff{\r\n}\r\n');
    expect(mergeThereAndBack('// mine', model)).toBe('// mine\n{ "model": "m" }\n');
  });

  it('a file without a value stays when everything else was taken out', () => {
    expect(remove('{ "model" : "m" }\n', model, undefined)).toEqual({ text: '', left: [] });
    expect(remove('// mine\n{ "model": "m" }', model, '')).toEqual({ text: '// mine\n', left: [] });
    expect(remove('\n', model, '')).toEqual({ text: '\n', left: [] });
  });
});

describe('setting that is there', () => {
  it('a setting that exists gets the new value, and no other byte changes', () => {
    expect(mergeThereAndBack('{ "model" : /* old */ "opus" , "z":[ 1,2 ] }', model)).toBe(
      '{ "model" : /* old */ "m" , "z":[ 1,2 ] }',
    );
  });

  it('a setting that exists is refused where it is of another kind, because it would be lost', () => {
    expect(() => merge('{"env":"none"}', '{"env":{"A":"1"}}')).toThrow(
      'line 1, column 8: env is a string here, but must be an object.',
    );
    expect(() => merge('{"model":{"name": "a" /* b */, }}', model)).toThrow(
      'model is an object here, but must be a string.',
    );
    expect(() => merge('{"models":{"a":[ ]}}', models, { identity })).toThrow(
      'models is an object here, but must be a list.',
    );
    expect(mergeThereAndBack('{"env":null}', '{"env":{"A":"1"}}')).toBe('{"env":{"A":"1"}}');
    expect(mergeThereAndBack('{\n  "list": [\n    1\n  ]\n}', '{"list":[2]}')).toBe('{\n  "list": [2]\n}');
  });

  it('a setting that exists stays as it is where the value is the same in other words', () => {
    const file = '{"\\u0065nv":{"URL":"https:\\/\\/x","KEY":"\\u006b"},"n":1.0,"e":1e3}';
    expect(mergeThereAndBack(file, '{"env":{"URL":"https://x","KEY":"k"},"n":1,"e":1000}')).toBe(file);
  });

  it('a setting that exists differs where a large number differs in the digits that a double loses', () => {
    expect(missing('{"n":12345678901234567890}', '{"n":12345678901234567891}')).toEqual(['n']);
  });

  it('a setting that exists is refused where two members have its name, and only there', () => {
    const refusal = 'line 1, column 10: The key is there twice.';
    expect(() => merge('{"env":1,"\\u0065nv":2}', env)).toThrow(refusal);
    expect(() => remove('{"env":1,"env":2}', env, '')).toThrow(refusal);
    expect(mergeThereAndBack('{"a":1,"a":2}', model)).toBe('{"a":1,"a":2,"model":"m"}');
  });
});

describe('list of objects with an identity', () => {
  const file = '{\n  "models": [\n    { "id": "a", "url": "u" } // mine\n  ]\n}';

  it('a list of objects with an identity gets entries at its end or its start', () => {
    const entry = '{\n      "id": "m",\n      "url": "u",\n      "key": "k"\n    }';
    expect(mergeThereAndBack(file, models, { identity })).toBe(
      `{\n  "models": [\n    { "id": "a", "url": "u" }, // mine\n    ${entry}\n  ]\n}`,
    );
    expect(mergeThereAndBack(file, models, { identity, at: 'start' })).toBe(
      `{\n  "models": [\n    ${entry},\n    { "id": "a", "url": "u" } // mine\n  ]\n}`,
    );
    expect(mergeThereAndBack('[1, 2]', '[{"id":"m"}]', { identity: ['id'], at: 'start' })).toBe('[{"id": "m"}, 1, 2]');
    expect(mergeThereAndBack('[ // top\n  1\n]', '[{"id":"m"}]', { identity: ['id'], at: 'start' })).toBe(
      '[ // top\n  {\n    "id": "m"\n  },\n  1\n]',
    );
  });

  it('a list of objects with an identity has an entry with the identity replaced in its place', () => {
    expect(
      mergeThereAndBack('{"models":[{"url":"u","id":"m"},{"id":"m","url":"v"}]}', models, { identity, at: 'start' }),
    ).toBe('{"models":[{"id":"m","url":"u","key":"k"},{"id":"m","url":"v"}]}');
  });

  it('a list of objects with an identity keeps an entry with all wanted members, also those that its tool added', () => {
    const added = '{"models":[{"index":0,"id":"m","url":"u","key":"k"}]}';
    expect(merge(added, models, { identity })).toBe(added);
    expect(missing(added, models, { identity })).toEqual([]);
    expect(remove(added, models, '{"models":[]}', { identity }).text).toBe('{"models":[]}');
  });

  it('a list of objects with an identity is a value like others without an identity', () => {
    expect(mergeThereAndBack('{"models":[{"id":"a"}]}', models)).toBe('{"models":[{"id":"m","url":"u","key":"k"}]}');
  });
});

describe('taking settings out', () => {
  it('taking settings out leaves a value alone that is no longer ours, and names the setting', () => {
    const merged = '{\n  "env": {\n    "URL": "https://x",\n    "KEY": "mine"\n  }\n}\n';
    expect(remove(merged, env, '{}')).toEqual({
      text: '{\n  "env": {\n    "KEY": "mine"\n  }\n}\n',
      left: ['env.KEY'],
    });
    expect(remove('{"env":5}', env, '{}')).toEqual({ text: '{"env":5}', left: ['env'] });
    expect(remove('{"models":[{"id":"m","url":"u","key":"mine"}]}', models, '{}', { identity }).left).toEqual([
      'models[0]',
    ]);
  });

  it('taking settings out names no setting that is gone, or that has its earlier value again', () => {
    expect(remove('{"model":"opus"}', '{"model":"m","small":"s"}', '{"model":"opus"}')).toEqual({
      text: '{"model":"opus"}',
      left: [],
    });
  });

  it('taking settings out takes out what tools moved, reformatted and put members around', () => {
    const tool =
      '{\n\t"$v": 3,\n\t"env": {"A": "1", "KEY": "k", "B": "2", "URL": "https:\\/\\/x", "C": "3"},\n\t"z": 1\n}';
    expect(remove(tool, env, '{"z":1}').text).toBe(
      '{\n\t"$v": 3,\n\t"env": {"A": "1", "B": "2", "C": "3"},\n\t"z": 1\n}',
    );
    expect(remove('{"model":"m", "z":1}', model, '{"z":1}').text).toBe('{"z":1}');
    expect(remove('{\n  "model": "m",\n  "z": 1\n}', model, '{"z":1}').text).toBe('{\n  "z": 1\n}');
  });

  it('taking settings out keeps the comments of the user', () => {
    expect(remove('{\n  "z": 1,\n  // why\n  "model": "m", // because\n}', model, '{"z":1}').text).toBe(
      '{\n  "z": 1,\n  // why\n // because\n}',
    );
    expect(remove('{\n  // why\n  "model": "m", "z": 1 }', model, '{"z":1}').text).toBe('{\n  // why\n "z": 1 }');
    expect(remove('{\n  "env": { /* mine */ "URL": "https://x" }\n}', env, '{}').text).toBe(
      '{\n  "env": { /* mine */ }\n}',
    );
  });

  it('taking settings out leaves an empty object or list that the user had', () => {
    expect(remove('{"env":{"KEY":"k"},"models":[]}', env, '{"env":{}}').text).toBe('{"env":{},"models":[]}');
    expect(remove('{"env":{"KEY":"k"}}', env, '{"env":{"A":"1"}}').text).toBe('{"env":{}}');
  });
});

describe('missing settings', () => {
  it('missing settings are named by their paths', () => {
    expect(missing('{"env":{"URL":"https://y"}}', env)).toEqual(['env.URL', 'env.KEY']);
    expect(missing(undefined, '{"a":{"b":{},"c":[1]},"d":[{"id":1,"url":2}]}', { identity })).toEqual([
      'a.b',
      'a.c',
      'd[0]',
    ]);
    expect(missing('{"env":{"URL":"https://x","KEY":"k","more":1}}', env)).toEqual([]);
  });
});

describe('file that is not JSON', () => {
  it.each([
    ['{"a":1', 'line 1, column 7: A comma or "}" is missing.'],
    ['{"a":1 "b":2}', 'line 1, column 8: A comma or "}" is missing.'],
    ['[1 2]', 'line 1, column 4: A comma or "]" is missing.'],
    ['{\n  😀: 1}', 'line 2, column 3: A name in double quotes is missing.'],
    ['{"😀" 1}', 'line 1, column 6: A colon is missing.'],
    ['{"a":}', 'line 1, column 6: A value is missing or not valid.'],
    ['{,}', 'line 1, column 2: A name in double quotes is missing.'],
    ['{"a":01}', 'line 1, column 7: A comma or "}" is missing.'],
    ['{"a":"\t"}', 'line 1, column 7: The string does not end, or is not escaped correctly.'],
    ['{"a":"\\x"}', 'line 1, column 7: The string does not end, or is not escaped correctly.'],
    ["{'a':1}", 'line 1, column 2: A name in double quotes is missing.'],
    ['{}/* open', 'line 1, column 3: The comment does not end.'],
    ['{} {}', 'line 1, column 4: The file continues after its value.'],
    ['{// a\rb\n}', 'line 1, column 6: A CR stands without an LF.'],
    ['\ufeff\ufeff{}', 'line 1, column 1: A value is missing or not valid.'],
    ['\u00a0{}', 'line 1, column 1: A value is missing or not valid.'],
  ])('is refused with the place of the error: %j', (file, message) => {
    expect(() => merge(file, model)).toThrow(message);
    expect(() => remove(file, model, '')).toThrow(message);
    expect(() => missing(file, model)).toThrow(message);
  });

  it('JSON is refused if it has more than 200 levels', () => {
    expect(mergeThereAndBack(nested(200), model)).toContain('"model":"m"');
    expect(() => merge(nested(201), model)).toThrow('line 1, column 206: Values are nested too deeply.');
  });

  it('JSON is refused if it holds a list instead of an object, or the other way round', () => {
    expect(() => merge('[]', model)).toThrow('The file does not hold an object, as its tool expects.');
    expect(() => remove('5', '[{"id":1}]', '', { identity: ['id'] })).toThrow(
      'The file does not hold a list, as its tool expects.',
    );
  });
});

describe('time', () => {
  const wanted = '{ "p": { "key": "k", "at": "2026-01-01T00:00:00.000Z" } }';
  const renewed = '{ "p": { "key": "k", "at": "2026-11-22T16:30:03.232Z" }, "a": 1 }';

  it('a timestamp counts as the wanted one when the tool has renewed it, and is taken out with the others', () => {
    expect(merge(renewed, wanted)).toBe(renewed);
    expect(missing(renewed, wanted)).toEqual([]);
    expect(remove(renewed, wanted, '{ "a": 1 }')).toEqual({ text: '{ "a": 1 }', left: [] });
  });

  it('a timestamp does not equal other text', () => {
    const changed = renewed.replace('2026-11-22T', 'on 2026-11-22T');
    expect(missing(changed, wanted)).toEqual(['p.at']);
    expect(remove(changed, wanted, '{}').left).toEqual(['p.at']);
  });
});
