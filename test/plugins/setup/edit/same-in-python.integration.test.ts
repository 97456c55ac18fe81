import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { jsonFiles, jsonLists, wantedJson, wantedList } from './json-files.ts';
import { callInJavaScript, callInPython, hasPython, loadFormat } from './languages.ts';
import type { EditCall, EditFormat, EditModule, EditOptions, EditResult } from './languages.ts';
import { runs } from './runs.ts';
import { tomlFiles, wantedToml } from './toml-files.ts';
import { continueOptions, llmOptions, wantedItems, wantedMaps, yamlLists, yamlMaps } from './yaml-files.ts';

/** Files, settings and options of a format. */
interface Samples {
  readonly format: EditFormat;
  readonly files: fc.Arbitrary<string>;
  readonly wanted: fc.Arbitrary<string>;
  readonly options: EditOptions;
}

const all: readonly Samples[] = [
  { format: 'json', files: jsonFiles, wanted: wantedJson, options: {} },
  { format: 'json', files: jsonFiles, wanted: wantedJson, options: { identity: ['id'] } },
  { format: 'json', files: jsonLists, wanted: wantedList, options: { identity: ['id', 'url'], at: 'start' } },
  { format: 'toml', files: tomlFiles, wanted: wantedToml, options: {} },
  { format: 'yaml', files: yamlMaps, wanted: wantedMaps, options: continueOptions },
  { format: 'yaml', files: yamlLists, wanted: wantedItems, options: llmOptions },
];

const { numRuns } = runs(120);

describe.skipIf(!hasPython)('a file in Python', () => {
  let results: readonly Compared[] = [];
  beforeAll(async () => {
    const calls = await Promise.all(all.map(async (samples) => callsOf(await loadFormat(samples.format), samples)));
    const long = await Promise.all(
      longLists.map(async (call) => ({ call, inJavaScript: callInJavaScript(await loadFormat(call.format), call) })),
    );
    const inPython = callInPython([...calls.flat().map(({ call }) => call), ...longLists]);
    results = [...calls.flat(), ...long].map((one, index) => ({ ...one, inPython: inPython[index]! }));
  });

  it.each(all)(
    'of the format $format with the options $options becomes the same as in JavaScript, also where it is broken or was edited',
    (samples) => {
      const own = results.filter((one) => one.samples === samples);
      expect(own.length).toBe(numRuns * 6);
      expectSame(own);
      const refused = own.filter(({ inPython }) => 'refusal' in inPython).length;
      expect(refused).toBeGreaterThan(own.length / 25);
      expect(refused).toBeLessThan(own.length / 2);
    },
  );

  // A comparison of all entries with each other would take longer than the time limit of a test.
  it('gets long lists merged, in a time that grows with their length only', () => {
    const own = results.filter(({ samples }) => samples === undefined);
    expect(own.length).toBe(longLists.length);
    expectSame(own);
    expect(own.every(({ inPython }) => 'value' in inPython)).toBe(true);
  });
});

interface Compared {
  readonly samples?: Samples;
  readonly call: EditCall;
  readonly inJavaScript: EditResult;
  readonly inPython: EditResult;
}

function expectSame(compared: readonly Compared[]): void {
  const different = compared.find(
    ({ inPython, inJavaScript }) => JSON.stringify(inPython) !== JSON.stringify(inJavaScript),
  );
  expect({ ...different?.call, ...different?.inPython }).toEqual({ ...different?.call, ...different?.inJavaScript });
}

const longLists: readonly EditCall[] = [
  longList('json', (id) => `{"id":"${id}","url":1}`, ['[', ']']),
  longList('yaml', (id) => `- id: "${id}"\n  url: 1\n`, ['', '']),
];

const breaks = fc.constantFrom(
  ...`'"[]{}#=:,-&*!|>\t \n\r\\`,
  '\u2028',
  '\0',
  '😀',
  '//',
  '/*',
  '"a":',
  '---\n',
  '\n  ',
  '"""',
  ' - x\n',
);

/** Merging into files, removing from what that gave and from edited and broken versions of it. */
function callsOf(module: EditModule, samples: Samples): Omit<Compared, 'inPython'>[] {
  const { format, files, wanted, options } = samples;
  const cases = fc.sample(fc.tuple(files, wanted, wanted, fc.nat(), breaks, fc.constantFrom(0, 0, 1, 3)), numRuns);
  const calls = cases.flatMap<EditCall>(([file, settings, next, at, piece, length]) => {
    const merge: EditCall = { format, name: 'merge', texts: [file, settings], options };
    const merged = callInJavaScript(module, merge);
    const text = 'value' in merged ? String(merged.value) : file;
    const start = text.length === 0 ? 0 : at % text.length;
    const edited = text.slice(0, start) + piece + text.slice(start + length);
    return [
      merge,
      { format, name: 'missing', texts: [file, settings], options },
      { format, name: 'remove', texts: [text, settings, file], options },
      { format, name: 'remove', texts: [text, settings, file], options: { ...options, keep: next } },
      { format, name: 'remove', texts: [edited.toWellFormed(), settings, file], options },
      { format, name: 'remove', texts: [edited.toWellFormed(), settings, null], options },
    ];
  });
  return calls.map((call) => ({ samples, call, inJavaScript: callInJavaScript(module, call) }));
}

/** A list with as many entries as the settings. */
function longList(format: 'json' | 'yaml', entry: (id: string) => string, [open, close]: [string, string]): EditCall {
  const list = (start: number) =>
    open + Array.from({ length: 5000 }, (_, index) => entry(`m${start + index}`)).join(close === '' ? '' : ',') + close;
  return { format, name: 'merge', texts: [list(0), list(2500)], options: { identity: ['id'] } };
}
