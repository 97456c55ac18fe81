import { InvalidArgumentError } from 'commander';
import { ActionRefused, text, time } from '#core/business/operator-actions/action-kind.ts';
import { exampleText } from '#core/extension/commands/command.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { outcomes } from '#core/gateway/records/filter.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import { parseRequestTime } from '#core/gateway/records/request-id.ts';

const defaultPeriodMs = 86_400_000;

export const selection = {
  account: text('Of this account: id, e-mail address, name, hint or key.'),
  model: text('Of this model, whichever name the client used.'),
  route: text('Served by this route, such as openai/gpt-6-sol.'),
  since: time,
};

export const status = {
  ...text('A status such as 429 or 5xx, error, or an outcome such as refused.'),
  pattern: `^(?:error|[1-5][xX]{2}|[1-5]\\d\\d|${outcomes.join('|')})$`,
};

/** @throws ActionRefused `not_found`, AccountError `not_found` or `ambiguous` */
export async function createSelectionFilter(
  host: Host,
  { account, model, route, since }: Partial<Record<keyof typeof selection, string | undefined>>,
) {
  const { findAccountByHandle } = await import('#core/business/accounts/account-list.ts');
  return {
    accountId: account === undefined ? undefined : (await findAccountByHandle(host, account)).id,
    model: model === undefined ? undefined : await findPublicName(host, model),
    route,
    since: since === undefined ? host.now() - defaultPeriodMs : Date.parse(since),
  };
}

async function findPublicName(host: Host, name: string): Promise<string> {
  // Also finds a removed model that still has usage.
  const publicName = await findModelName(host, name);
  if (publicName !== undefined) return publicName;
  const suggestion = host.catalog.suggest(name);
  const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  throw new ActionRefused(`Model "${name}" not found.${hint}`, 'not_found');
}

export function parseRequestId(id: string): string {
  if (parseRequestTime(id) !== undefined) return id;
  throw new InvalidArgumentError('It must be a request id: req_ and 32 hexadecimal digits.');
}

export interface CommandOutput {
  print(line: string): void;
  readonly isJson: boolean;
  readonly timeZone: string;
}

export const exitCodes = exitCodesFor('request, account or model');

export const formatExamples = (lines: readonly string[]): string => exampleText(lines, exitCodes);
