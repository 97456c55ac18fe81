import { expect, it } from 'vitest';
import type { JsonSchema } from '#core/platform/schema.ts';
import { renameMembers } from '../../../plugins/operator-api/other-names.ts';
import { registeredHere } from '../../support/registered.ts';

const { actions } = await registeredHere();

/** An input with words in languages and a span, as announcements have it. */
const told: JsonSchema = { properties: { since: {}, until: {}, text_en: {}, text_id: {} } };
const inputOf = (name: string): JsonSchema => (name === 'told' ? told : (actions.get(name)?.input ?? {}));

it.each([
  ['order.refund', { days: 'whole', note: 'x' }, { days_back: 'whole', note: 'x' }],
  ['order.refund', { days_back: 'none', days: 'whole' }, { days_back: 'none', days: 'whole' }],
  ['account.add_days', { days: 7, note: 'x' }, { days: 7, note: 'x' }],
  [
    'told',
    { from: 'a', until: 'b', text: { en: 'Work', id: 'Kerja' } },
    { since: 'a', until: 'b', text_en: 'Work', text_id: 'Kerja' },
  ],
  // Named as it is in the refusal.
  ['told', { text: { fr: 'x' }, form: 'a' }, { text_fr: 'x', form: 'a' }],
])('a body of %s may have the names of commands and gateway.yaml: %j', (name, given, own) => {
  expect(Object.keys(inputOf(name).properties ?? {}).length).toBeGreaterThan(0);
  expect(renameMembers(inputOf(name), given)).toEqual(own);
});
