import type { GatewayDocument } from '#core/config/file/document.ts';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Registry } from '#core/extension/registry.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { requireDivisible, VariantRefused } from '#core/extension/validation/variant-rules.ts';
import type { Queries } from '#core/platform/database/database.ts';
import type { Canaries, Canary } from '../record/canaries.ts';
import { describeCanary } from './describe.ts';
import { type ActiveAccounts, servesAccount } from './share.ts';
import { calculateFirstLook } from './verdict.ts';

interface Services {
  readonly database: Queries;
  readonly documents: EffectiveDocuments;
  readonly canaries: Canaries;
  readonly registry: Registry;
}

/**
 * Starts a canary on all instances.
 *
 * @param next configuration that the canary serves; `file` is gateway.yaml
 * @param options `seconds`: time until it may be promoted automatically
 * @throws VariantRefused, RollbackRefused, ConfigError, all before any change
 */
export async function startCanary(
  { database, documents, canaries, registry }: Services,
  file: GatewayDocument,
  next: GatewayDocument,
  options: Pick<Canary, 'share' | 'note' | 'operator'> & { readonly seconds: number },
): Promise<{ readonly canary: Canary; readonly accounts: ActiveAccounts }> {
  const { share } = options;
  const { storedForm: base, document } = await documents.resolve(file);
  if (base === undefined) throw new VariantRefused('The serving configuration cannot be read from the database.');
  const candidate = await documents.history.createStoredForm(next);
  if (candidate.digest === base.digest) throw new VariantRefused(explainSame(file, next));
  requireDivisible(validate(next, registry), validate(document, registry), registry.sections.values());
  await documents.parseStored({ name: 'the canary', text: candidate.text }, file);
  const active = await listActiveAccountIds(database);
  const countTaken = (canary: Pick<Canary, 'salt' | 'share'>) =>
    active.filter((id) => servesAccount(canary, id)).length;
  const salt = canaries.createSalt();
  const accounts = { taken: countTaken({ salt, share }), active: active.length };
  if (accounts.taken === 0) throw new VariantRefused(explainNoAccount(accounts.active, share));
  const canary = await canaries.start({
    ...candidate,
    baseDigest: base.digest,
    salt,
    ...options,
    firstLook: calculateFirstLook(share),
  });
  if (canary !== undefined) return { canary, accounts };
  const running = await canaries.findRunning();
  const obstacle =
    running === undefined ? 'Another canary has just started' : `Nothing has changed: ${describeCanary(running)}`;
  throw new VariantRefused(
    `${obstacle}. End it with "daypass reload --full" or "daypass rollback" before the next one.`,
  );
}

function explainSame(file: GatewayDocument, next: GatewayDocument): string {
  if (next.file !== file.file) return `${next.file} has the same content as the configuration being served.`;
  return 'gateway.yaml is already being served, and a change to it is loaded at once. Write the change into another file: daypass reload gateway.next.yaml --canary 10%';
}

function explainNoAccount(active: number, share: number): string {
  if (active === 0)
    return 'Nothing has changed: no account has a running pass or sent a request in the last 7 days, so the canary would have no accounts.';
  const noneSelected = active === 1 ? 'the only active account is not' : `none of the ${active} active accounts is`;
  return `Nothing has changed: ${noneSelected} among the ${Number((share * 100).toFixed(2))}% that were drawn, so the canary would have no accounts. Take a larger share, or draw again with the same command.`;
}

async function listActiveAccountIds(database: Queries): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select account_id::text as id from plan_period p
     where starts_at <= clock_timestamp() and ends_at > clock_timestamp()
       and not exists (select 1 from plan_period r where r.replaces = p.id)
     union select account_id::text from usage_account where hour > clock_timestamp() - interval '7 days'`,
  );
  return rows.map(({ id }) => id);
}
