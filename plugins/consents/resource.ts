import { text } from '#core/business/operator-actions/action-kind.ts';
import { InvalidQuery, formatMistake } from '#core/business/operator-actions/query.ts';
import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type Consent, listDeclaredConsents } from './section.ts';
import { listReachableAccounts, type ReachableAccount } from './store.ts';

export const consents = defineResource({
  name: 'consent',
  summary: 'list accounts that have given a consent and may be contacted, newest first',
  query: object({
    name: text('Name of the consent in gateway.yaml.', 40),
    after: createAfterSchema('consent'),
  }),
  view: defineView<ReachableAccount>()({
    name: { type: 'text', of: 'name' },
    account: { type: 'person', of: 'accountId' },
    email: { type: 'text', heading: 'e-mail', of: 'email' },
    language: { type: 'text', of: 'language' },
    given: { type: 'time', of: 'givenAt' },
    place: { type: 'text', of: 'place' },
  }),
  perPage: 1_000,
  none: 'No account that has given it may be contacted.',
  async list(host, { name, after }, { limit }) {
    const chosenConsents = chooseConsents(listDeclaredConsents(host), name);
    return readPage(limit, (maxRows) => listReachableAccounts(host.database, chosenConsents, after, maxRows));
  },
});

/** @throws InvalidQuery for a name that gateway.yaml does not declare */
function chooseConsents(declared: readonly Consent[], name: string | undefined): readonly Consent[] {
  const chosenConsents = declared.filter((consent) => name === undefined || consent.name === name);
  if (name === undefined || chosenConsents.length > 0) return chosenConsents;
  const names = declared.map((consent) => consent.name).join(', ');
  const advice = names === '' ? 'gateway.yaml declares no consents' : `use one of: ${names}`;
  throw new InvalidQuery(formatMistake('name', `is ${JSON.stringify(name)}`, advice));
}
