import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { json } from '../../../../plugins/setup/script/edit/json.mjs';
import { runs } from '../../../support/runs.ts';
import { jsonFiles, jsonLists, readJson, wantedJson, wantedList } from './json-files.ts';

const { merge, missing, remove } = json;

const options = fc.record({
  identity: fc.constantFrom<string[][]>(['id'], ['id', 'url'], []),
  at: fc.constantFrom('start', 'end'),
});
const objects = fc.tuple(jsonFiles, wantedJson, options);
const lists = fc.tuple(
  jsonLists,
  wantedList,
  options.map(({ at }) => ({ identity: ['id'], at })),
);

/** False where a value of the file is of another kind than the wanted one, which is refused. */
function fits(file: string, wanted: string, how: Parameters<typeof merge>[2]): boolean {
  try {
    merge(file, wanted, how);
    return true;
  } catch (error) {
    if (/ here, but must be /.test(String(error))) return false;
    throw error;
  }
}

describe.each([
  { kind: 'object', cases: objects.filter((one) => fits(...one)) },
  { kind: 'list', cases: lists.filter((one) => fits(...one)) },
])('settings in a JSON file with an outer $kind', ({ cases }) => {
  it('are taken out again byte for byte', () => {
    fc.assert(
      fc.property(cases, ([file, wanted, how]) => {
        expect(remove(merge(file, wanted, how), wanted, file, how)).toEqual({ text: file, left: [] });
      }),
      runs(80),
    );
  });

  it('are all there, and are not put in twice', () => {
    fc.assert(
      fc.property(cases, ([file, wanted, how]) => {
        const merged = merge(file, wanted, how);

        expect(missing(merged, wanted, how)).toEqual([]);
        expect(merge(merged, wanted, how)).toBe(merged);
      }),
      runs(80),
    );
  });

  it('are taken out of a file that a tool wrote anew with its own members and entries', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), fc.constantFrom(undefined, 3), ([file, wanted, how], isReversed, indent) => {
        const merged = readJson(merge(file, wanted, how));
        const before = readJson(file);
        const settings = readJson(wanted);
        const isOpen = (want: unknown) =>
          want === undefined || (how.identity.length > 0 && isListOf(want, how.identity));
        const edited = JSON.stringify(edit(merged, before, settings, isOpen, isReversed), undefined, indent);

        const { text, left } = remove(edited, wanted, file, how);

        expect(left).toEqual([]);
        const expected = edit(before, merged, settings, isOpen, false) ?? {};
        expect(inOrder(readJson(text) ?? {})).toEqual(inOrder(expected));
      }),
      runs(80),
    );
  });

  it('give way to the next ones in their places, and are taken out after that', () => {
    fc.assert(
      fc.property(cases, cases, ([file, first, how], [, second]) => {
        const merged = merge(file, first, how);
        const kept = remove(merged, first, file, { ...how, keep: second }).text;
        fc.pre(fits(kept, second, how) && fits(file, second, how));

        const again = merge(kept, second, how);

        expect(missing(again, second, how)).toEqual([]);
        expect(inOrder(readJson(again), true)).toBe(inOrder(readJson(merge(file, second, how)), true));
        const { text, left } = remove(again, second, file, how);
        expect(inOrder(readJson(text), true)).toBe(inOrder(readJson(file), true));
        expect(left).toEqual([]);
      }),
      runs(80),
    );
  });

  it('keep strict JSON strict', () => {
    fc.assert(
      fc.property(cases, ([file, wanted, how]) => {
        fc.pre(isStrict(file));
        const merged = merge(file, wanted, how);

        expect(isStrict(merged)).toBe(true);
        expect(isStrict(remove(merged, wanted, '{"model":1}', how).text)).toBe(true);
      }),
      runs(80),
    );
  });
});

describe('new settings in a JSON file', () => {
  it('new settings in a JSON file leave all its bytes in their order', () => {
    fc.assert(
      fc.property(objects, ([file, wanted, how]) => {
        const names = Object.keys((readJson(file) as object | undefined) ?? {});
        fc.pre(names.length > 0 && Object.keys(readJson(wanted) as object).every((name) => !names.includes(name)));

        expect(isIn(file, merge(file, wanted, how))).toBe(true);
      }),
      runs(80),
    );
  });
});

/**
 * A value with a new member in each object, and new entries around each list, that `peer` has as well and that is not a
 * value of ours.
 */
function edit(
  value: unknown,
  peer: unknown,
  want: unknown,
  isOpen: (want: unknown) => boolean,
  isReversed: boolean,
): unknown {
  if (Array.isArray(value) && Array.isArray(peer) && isOpen(want)) {
    return [{ id: 'first', url: 1 }, ...(value as unknown[]), 'last'];
  }
  if (value === undefined || !isObject(value)) return value;
  const isShared = isObject(peer) && (want === undefined || isObject(want));
  const entries = Object.entries(value).map(([name, own]) => [
    name,
    isShared ? edit(own, member(peer, name), member(want, name), isOpen, isReversed) : own,
  ]);
  if (isShared) entries.splice(entries.length / 2, 0, ['added', [{ by: 'tool' }]]);
  return Object.fromEntries(isReversed ? entries.toReversed() : entries);
}

function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, fields: readonly string[]): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((entry) => fields.every((field) => isObject(entry) && field in entry))
  );
}

/** A value as JSON with sorted names, without the sign of a zero, and with sorted lists where their order does not matter. */
function inOrder(value: unknown, isSet = false): string {
  const sorted = (_name: string, own: unknown) => {
    if (isSet && Array.isArray(own)) return own.map((entry) => inOrder(entry, isSet)).sort();
    return isObject(own)
      ? Object.fromEntries(Object.entries(own).sort(([one], [other]) => (one < other ? -1 : 1)))
      : own;
  };
  return JSON.stringify(value, sorted);
}

function isStrict(text: string): boolean {
  try {
    JSON.parse(text.replace('\ufeff', ''));
    return true;
  } catch {
    return text === '';
  }
}

/** Whether a text is what is left of another when characters are deleted. */
function isIn(text: string, other: string): boolean {
  const rest = other[Symbol.iterator]();
  return Array.from(text).every((character) => rest.some((one) => one === character));
}
