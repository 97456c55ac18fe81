import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import { InvalidArgumentError } from 'commander';
import { ActionRefused, text, time } from '#core/business/operator-actions/action-kind.ts';
import { exampleText } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { outcomes } from '#core/gateway/records/filter.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import { timeOfRequestId } from '#core/gateway/records/request-id.ts';

/** Selected period in ms without `since`. */
const usualSpan = 86_400_000;

/** Members of a query that select requests. */
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

/** Selects requests by these members; without `since`, requests of the last 24 hours. */
interface Selection {
  readonly account?: string | undefined;
  readonly model?: string | undefined;
  readonly route?: string | undefined;
  readonly since?: string | undefined; // RFC 3339
}

/** The filter that selects these requests. @throws ActionRefused `not_found`, AccountError `not_found` or `ambiguous` */
export async function readSelection(host: Host, { account, model, route, since }: Selection) {
  const { findAccountByHandle } = await import('#core/business/accounts/account-list.ts');
  return {
    accountId: account === undefined ? undefined : (await findAccountByHandle(host, account)).id,
    model: model === undefined ? undefined : await publicNameOf(host, model),
    route,
    since: since === undefined ? host.now() - usualSpan : Date.parse(since),
  };
}

/** A model of the catalog by any of its names, or a former model with usage. @throws ActionRefused `not_found` */
async function publicNameOf(host: Host, name: string): Promise<string> {
  const known = await findModelName(host, name);
  if (known !== undefined) return known;
  const suggestion = host.catalog.suggest(name);
  const ask = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  throw new ActionRefused(`Model "${name}" not found.${ask}`, 'not_found');
}

export function parseRequestId(id: string): string {
  if (timeOfRequestId(id) !== undefined) return id;
  throw new InvalidArgumentError('It must be a request id: req_ and 32 hexadecimal digits.');
}

/** Output options of a command. */
export interface CommandOutput {
  print(line: string): void;
  readonly isJson: boolean;
  readonly timeZone: string;
}

export const exitCodes = exitCodesFor('request, account or model');

/** The end of a help text. */
export const examples = (lines: readonly string[]): string => exampleText(lines, exitCodes);
