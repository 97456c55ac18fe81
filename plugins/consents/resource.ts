import { text } from '#core/business/operator-actions/action-kind.ts';
import { InvalidQuery, formatMistake } from '#core/business/operator-actions/query.ts';
import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { afterEntry, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type Consent, declaredConsents } from './section.ts';
import type { Reachable } from './store.ts';

/** Accounts that have given a consent and may be contacted. */
export const consents = defineResource({
  name: 'consent',
  summary: 'list accounts that have given a consent and can be written to, the newest first',
  query: object({
    name: text('Name of the consent in gateway.yaml.', 40),
    after: afterEntry('consent'),
  }),
  view: defineView<Reachable>()({
    name: { type: 'text', of: 'name' },
    account: { type: 'person', of: 'accountId' },
    email: { type: 'text', heading: 'e-mail', of: 'email' },
    language: { type: 'text', of: 'language' },
    given: { type: 'time', of: 'givenAt' },
    place: { type: 'text', of: 'place' },
  }),
  perPage: 1_000,
  none: 'No account has given it and can be written to.',
  async list(host, { name, after }, { limit }) {
    const { listReachable } = await import('./store.ts');
    const chosen = choose(declaredConsents(host), name);
    return readPage(limit, (most) => listReachable(host.database, chosen, after, most));
  },
});

/** Returns the consents with a name; all without one. @throws InvalidQuery for a name that gateway.yaml does not declare */
function choose(declared: readonly Consent[], name: string | undefined): readonly Consent[] {
  const chosen = declared.filter((one) => name === undefined || one.name === name);
  if (name === undefined || chosen.length > 0) return chosen;
  const names = declared.map((one) => one.name).join(', ');
  const right = names === '' ? 'gateway.yaml declares no consents' : `use one of: ${names}`;
  throw new InvalidQuery(formatMistake('name', `is ${JSON.stringify(name)}`, right));
}
