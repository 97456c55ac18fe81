import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../plugins/setup/script/edit/common.mjs';
import { toml } from '../../../../plugins/setup/script/edit/toml.mjs';
import { runs } from '../../../support/runs.ts';
import { deepMerge, has, linesAreIn, orRefusal, withoutEmpty } from './laws.ts';
import { isToml, tomlFiles, wantedToml } from './toml-files.ts';

const { merge, missing, remove } = toml;

const wanted = `model = "dp/demo"
model_provider = "daypass"
model_context_window = 128000

[model_providers.daypass]
name = "Daypass"
base_url = "https://ai.example/v1"
wire_api = "responses"
env_key = "DAYPASS_API_KEY"
`;

const read = (text: string) => parse(text.replace('\ufeff', ''));

describe('merging settings into the configuration of Codex', () => {
  it('merging TOML makes a missing file of them, and keeps a byte order mark', () => {
    expect(merge(undefined, wanted)).toBe(wanted);
    expect(merge('\ufeff\r\n', wanted.trimEnd())).toBe(`\ufeff${wanted}`);
  });

  it('merging TOML puts keys of the root before the first table and its comment, new tables at the end', () => {
    const current = `# Codex\n\n# Terminal\n[tui]\nnotifications = true\n\n[projects."/home/u"]\ntrust_level = "trusted"\n`;

    const [root, table] = wanted.split('\n\n');
    expect(merge(current, wanted)).toBe(current.replace('# Terminal', `${root}\n\n# Terminal`).concat(`\n${table}`));
  });

  it('merging TOML puts keys of the root behind those that are there, and changes only the bytes of a value', () => {
    const current = `model = 'gpt-5.1' # my favourite\nnotify = [\n  "a", # ]\n]\n\n[tui]\nmodel_provider = "not of the root"\n`;

    expect(merge(current, 'model = "dp/demo"\nmodel_provider = "daypass"\n')).toBe(
      current.replace("'gpt-5.1'", '"dp/demo"').replace('\n]\n', '\n]\nmodel_provider = "daypass"\n'),
    );
  });

  it('merging TOML adds to a table at its end, in its indentation, before the comment of the next one', () => {
    const current = `[model_providers.daypass]\n  name = "x"\n\n# next\n[tui]\n`;

    expect(merge(current, '[model_providers.daypass]\nname = "x"\nbase_url = "y"\n')).toBe(
      current.replace('"x"\n', '"x"\n  base_url = "y"\n'),
    );
  });

  it('merging TOML keeps a schema directive at the top, CRLF, and ends a last line that has no end', () => {
    expect(merge('#:schema https://x\r\n[tui]\r\na = 1', 'model = "m"\n\n[b]\nc = 1\n')).toBe(
      '#:schema https://x\r\nmodel = "m"\r\n\r\n[tui]\r\na = 1\r\n\r\n[b]\r\nc = 1\r\n',
    );
  });

  it.each([
    ['an inline table', 'model_providers = { x = 1 }\n', 'line 1, column 1: Nothing can be added'],
    ['a value', '\nmodel_providers = 1\n', 'line 2, column 1: Nothing can be added'],
    ['dotted keys', 'model_providers.daypass.name = "x"\n', 'line 1, column 1: Nothing can be added'],
    ['an array of tables', '[[model_providers]]\nx = 1\n', 'line 1, column 1: Nothing can be added'],
    ['a table in place of a value', '[model.x]\n', 'line 1, column 1: model is a table here'],
    ['a key twice', 'a = 1\n"a" = 2\n', 'line 2, column 1: The key or table is defined twice'],
    ['a table twice', '[a]\n[a]\n', 'line 2, column 1: The key or table is defined twice'],
    ['a string without an end', 'a = "x\n', 'line 1, column 5: The string does not end'],
    ['a line without a value', 'a =\n', 'line 1, column 4: A value is missing'],
    ['two pairs in a line', 'a = 1 b = 2\n', 'line 1, column 7: The line continues'],
    ['a carriage return alone', 'a = 1\rb = 2\n', 'line 1, column 6: The line continues'],
    ['a control character', '# \0\n', 'line 1, column 3: The line continues'],
    ['deep nesting', `a = ${'['.repeat(100_000)}`, 'Values are nested too deeply'],
  ])('refuses %s', (_, current, message) => {
    expect(() => merge(current, wanted)).toThrow(Refusal);
    expect(() => merge(current, wanted)).toThrow(message);
  });
});

describe('taking settings out of the configuration of Codex', () => {
  const before = `model = "gpt-5.1"\n\n[tui]\na = 1\n`;

  it('taking TOML settings out keeps what Codex has appended, and restores the former value', () => {
    const appended = '\n[projects."/home/u"]\ntrust_level = "trusted"\n';

    expect(remove(merge(before, wanted) + appended, wanted, before)).toEqual({ text: before + appended, left: [] });
  });

  it('taking TOML settings out leaves a setting that was changed, and names it', () => {
    const current = merge(before, wanted).replace('"dp/demo"', '"other"').replace('"responses"', '"chat"');

    expect(remove(current, wanted, before)).toEqual({
      text: 'model = "other"\n\n[tui]\na = 1\n\n[model_providers.daypass]\nwire_api = "chat"\n',
      left: ['model', 'model_providers.daypass.wire_api'],
    });
  });

  it('taking TOML settings out leaves a table to which a key was added, and nothing of a file that was ours', () => {
    expect(remove(`${wanted}query_params = {}\n`, wanted, undefined).text.trim()).toBe(
      '[model_providers.daypass]\nquery_params = {}',
    );
    expect(remove(`\n${wanted}\n`, wanted, undefined)).toEqual({ text: '', left: [] });
  });
});

describe('lists of tables in the configuration of Mistral Vibe', () => {
  const byName = { identity: ['name', 'provider'] };
  const ours = `active_model = "dp/m"

[[providers]]
name = "dp"
api_base = "https://ai.example/v1"

[[models]]
name = "m"
provider = "dp"
`;
  const file = `[[providers]]\nname = "other"\n[providers.headers]\nx = 1\n\n[[models]] # mine\nname = "m"\nprovider = "other"\n`;

  it('lists of tables get entries at the end, which are found by the members that identify them', () => {
    const text = merge(file, ours, byName);
    expect(read(text)).toEqual({
      active_model: 'dp/m',
      providers: [
        { name: 'other', headers: { x: 1 } },
        { name: 'dp', api_base: 'https://ai.example/v1' },
      ],
      models: [
        { name: 'm', provider: 'other' },
        { name: 'm', provider: 'dp' },
      ],
    });
    expect(text.startsWith('active_model = "dp/m"\n\n[[providers]]\nname = "other"\n[providers.headers]')).toBe(true);
    expect([merge(text, ours, byName), missing(text, ours, byName)]).toEqual([text, []]);
    expect(remove(text, ours, file, byName)).toEqual({ text: file, left: [] });
  });

  it('lists of tables keep what was added to them in between', () => {
    const added = '\n[[models]]\nname = "n"\nprovider = "dp"\n';
    expect(remove(merge(file, ours, byName) + added, ours, file, byName)).toEqual({ text: file + added, left: [] });
    const rewritten = stringify(read(merge(file, ours, byName)));
    expect(read(remove(rewritten, ours, file, byName).text)).toEqual(read(file));
  });

  it('lists of tables lose an entry with the tables inside of it', () => {
    const text = merge(file, ours, byName).replace(
      'ai.example/v1"\n',
      'ai.example/v1"\n\n[providers.extra_headers]\n\n[providers.a.b]\nc = 1\n',
    );
    expect(read(remove(text, ours, file, byName).text)).toEqual(read(file));
  });

  it('lists of tables have an entry with the same identity replaced, and brought back', () => {
    const own = `${file}\n[[providers]]\nname = "dp" # old\napi_base = "http://localhost"\n[providers.x]\ny = 1\n\n[tui]\na = 1\n`;
    const text = merge(own, ours, byName);
    expect((read(text)['providers'] as unknown[])[1]).toEqual({ name: 'dp', api_base: 'https://ai.example/v1' });
    expect(remove(text, ours, own, byName)).toEqual({ text: own, left: [] });
    const changed = `${text}\n[added]\n`;
    expect(read(remove(changed, ours, own, byName).text)).toEqual({ ...read(own), added: {} });
  });

  it('lists of tables keep an entry that the user has changed, and it is reported', () => {
    const text = merge(file, ours, byName).replace('https://ai.example/v1', 'https://other.example/v1');
    const { text: clean, left } = remove(text, ours, file, byName);
    expect(left).toEqual(['providers[0]']);
    expect((read(clean)['providers'] as unknown[])[1]).toEqual({ name: 'dp', api_base: 'https://other.example/v1' });
  });

  it.each([
    ['a value', 'models = []\n', 'line 1, column 1: models is not a list of tables here'],
    ['a table', '[models.x]\na = 1\n', 'line 1, column 1: models is not a list of tables here'],
  ])('lists of tables do not replace %s', (_, current, message) => {
    expect(() => merge(current, ours, byName)).toThrow(message);
  });
});

it('names the settings that are not there', () => {
  expect(missing(undefined, wanted)).toHaveLength(7);
  expect(missing(wanted, wanted)).toEqual([]);
  expect(missing(`[x]\n${wanted.replace('128000', '128_001')}`, wanted)).toEqual([
    'model',
    'model_provider',
    'model_context_window',
  ]);
  expect(missing(wanted.replace('128000', '128_001'), wanted)).toEqual(['model_context_window']);
});

describe('any TOML file', () => {
  it('any TOML file holds the deep merge after it, all its other lines in order, and nothing changes the second time', () => {
    let merged = 0;
    fc.assert(
      fc.property(tomlFiles, wantedToml, (file, settings) => {
        const text = orRefusal(() => merge(file, settings), /Nothing can be added|is a table here/);
        if (text === undefined) return;
        merged += 1;
        expect(read(text)).toEqual(deepMerge(read(file), read(settings)));
        expect(merge(text, settings)).toBe(text);
        expect(missing(text, settings)).toEqual([]);
        if (!missing('', settings).some((name) => has(read(file), name.split('.')))) {
          expect(linesAreIn(file, text)).toBe(true);
        }
      }),
      runs(80),
    );
    expect(merged).toBeGreaterThan(runs(80).numRuns / 4);
  });

  it('any TOML file comes back byte for byte', () => {
    fc.assert(
      fc.property(tomlFiles, wantedToml, (file, settings) => {
        const text = orRefusal(() => merge(file, settings), /Nothing can be added|is a table here/);
        if (text !== undefined) expect(remove(text, settings, file)).toEqual({ text: file, left: [] });
      }),
      runs(80),
    );
  });

  const edits: Record<string, (text: string) => string> = {
    'a table appended': (text) => `${text}\n[added_by_codex]\nx = "y"\n`,
    'a key added': (text) => text.replace(/^\ufeff?/, (mark) => `${mark}added_by_user = "y"\n`),
    'a table and a key added': (text) => `added_by_user = "y"\n${text.replace('\ufeff', '')}\n[added_by_codex.x]`,
    'everything written anew': (text) => stringify(read(text)),
  };

  it.each(Object.keys(edits))('keeps %s in between', (name) => {
    const edit = edits[name] as (text: string) => string;
    fc.assert(
      fc.property(tomlFiles, wantedToml, (file, settings) => {
        const text = orRefusal(() => merge(file, settings), /Nothing can be added|is a table here/);
        if (text === undefined) return;
        const { text: clean, left } = remove(edit(text), settings, file);
        expect(withoutEmpty(read(clean))).toEqual(withoutEmpty(read(edit(file))));
        expect(left).toEqual([]);
      }),
      runs(80),
    );
  });

  it('any TOML file is accepted only if it is TOML', () => {
    const pieces = fc.constantFrom(...`abm="'[]{},.#\n\r\\ \t1-:_0eTZu`, '"""', "'''", 'model', ' = ', '[a]\n', 'true');
    const nearly = fc.tuple(tomlFiles, fc.nat(), fc.nat(5), fc.array(pieces, { maxLength: 4 }));
    fc.assert(
      fc.property(nearly, ([file, at, length, inserted]) => {
        const start = file.length === 0 ? 0 : at % file.length;
        const text = file.slice(0, start) + inserted.join('') + file.slice(start + length);
        const isAccepted = orRefusal(() => missing(text, 'model = "m"\n'), /./) !== undefined;
        // A file of nothing but whitespace is filled, although a lone CR is no line end in TOML.
        if (isAccepted && text.trim() !== '') expect({ text, isToml: isToml(text) }).toEqual({ text, isToml: true });
      }),
      runs(300),
    );
  });
});

// A time that grew with the square of the length would be longer than a test may take.
it('reads a long file in a time that grows with its length only', () => {
  const projects = Array.from({ length: 5000 }, (_, index) => `[projects."/home/u/${index}"]\ntrust = "yes" # x\n`);
  const file = projects.join('');

  expect(remove(`${merge(file, wanted)}\n`, wanted, file).text).toBe(`${file}\n`);
});
