import { expect, it } from 'vitest';
import { ActionRefused } from '#core/business/operator-actions/action-kind.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';

it.each([
  ['refused', 1],
  ['invalid', 2],
] as const)('an action that is %s ends its command with the sentence and exit code %i', async (kind, exitCode) => {
  const failed = explainErrors(Promise.reject(new ActionRefused('Mail is off.', kind)));
  await expect(failed).rejects.toBeInstanceOf(CommandFailed);
  await expect(failed).rejects.toMatchObject({ message: 'Mail is off.', exitCode });
});

it('a query that asks for something that does not exist ends its command as invalid usage', async () => {
  const failed = explainErrors(Promise.reject(new InvalidQuery('"by" is "day"; did you mean "hour"?')));
  await expect(failed).rejects.toMatchObject({ message: '"by" is "day"; did you mean "hour"?', exitCode: 2 });
});
