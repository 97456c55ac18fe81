import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { absentCapabilities } from '../../ci/absent.ts';
import { registeredHere } from '../../support/registered.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs/operating/shop.md'), 'utf8');

const { actions } = await registeredHere();

it.runIf(absentCapabilities.length === 0)(
  'operating/shop.md lists every action of the operator API, and no other',
  () => {
    const listed = [...page.matchAll(/^\| `POST \/(\w+)\/([A-Z]+\/)?ACTION` \| (.+) \|$/gm)];
    const segments = listed.flatMap(([, path = '', handle, cell = '']) => {
      const subject = handle === undefined ? path : path.replace(/s$/, '');
      return (cell.match(/(?<=`)[a-z-]+(?=`)/g) ?? []).map((segment) => `${subject} ${segment}`);
    });
    expect(segments.toSorted()).toEqual(
      Array.from(actions.values(), ({ name, subject }) => `${subject.name} ${splitActionName(name).verb}`).toSorted(),
    );
  },
);
