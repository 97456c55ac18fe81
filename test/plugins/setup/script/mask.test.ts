import { beforeAll, expect, it } from 'vitest';
import { maskLines } from '../../../../plugins/setup/script/program/mask.mjs';
import { run } from '../../../../plugins/setup/script/program/run.mjs';
import { maskCases, maskUrl } from './mask-cases.ts';

/*
 * What a dry run shows of files with secrets. `S3cret` is a part of each of them.
 */

beforeAll(() => {
  run.data = { keyPrefix: 'dp', baseUrl: maskUrl };
});

it.each(maskCases)('a dry run hides what is secret and nothing else: %s', (_, text, expected) => {
  expect(maskLines(text.split('\n')).join('\n')).toBe(expected);
});
