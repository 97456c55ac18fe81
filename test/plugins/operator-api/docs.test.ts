import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiActions, segmentOf } from '../../../plugins/operator-api/openapi.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs/operating/shop.md'), 'utf8');

it('operating/shop.md lists every action of the operator API, and no other', () => {
  const listed = [...page.matchAll(/^\| `POST \/(\w+)\/([A-Z]+\/)?ACTION` \| (.+) \|$/gm)];
  const segments = listed.flatMap(([, path = '', handle, cell = '']) => {
    const subject = handle === undefined ? path : path.replace(/s$/, '');
    return (cell.match(/(?<=`)[a-z-]+(?=`)/g) ?? []).map((segment) => `${subject} ${segment}`);
  });
  expect(segments.toSorted()).toEqual(
    apiActions.map(({ name, subject }) => `${subject} ${segmentOf(name)}`).toSorted(),
  );
});
