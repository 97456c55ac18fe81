import { expect, it } from 'vitest';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { getCommandOperator, getCoreAction, runAction } from '#core/business/operator-actions/actions.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { registeredHere } from '../../../support/registered.ts';

const { actions } = await registeredHere();

it.each([...actions.values()])(
  '$name begins its summary with a verb and describes each input',
  ({ summary, input }) => {
    expect(summary).toMatch(/^[a-z]+ /);
    for (const { description } of Object.values(input.properties)) expect(description).toMatch(/\.$/);
  },
);

it.each([
  ['account.remove_sign_in', { note: 'lost' }, /^"sign_in" is missing/],
  ['account.change_email', { to: 'a@b@c', note: 'moved' }, /^"to" is "a@b@c"/],
  ['account.add_days', { days: '3', note: 'x' }, /^"days" is "3"/],
  ['account.unblock', { note: 'x' }, /^"note" is not a known key/],
] as const)(
  '%s is refused before it is recorded for an input that its schema refuses',
  async (name, input, message) => {
    // Without a database: nothing is looked up or recorded.
    const done = runAction(createTestHost(), getCommandOperator(), getCoreAction(name) as ActionKind, 'ani', input);
    await expect(done).rejects.toMatchObject({ kind: 'invalid', message: expect.stringMatching(message) });
  },
);
