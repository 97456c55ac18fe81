import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { personal } from '#core/platform/database/personal.ts';
import type { ConsentWords } from './section.ts';

/** A consent given by an account, with the words that were shown. It is in force until withdrawn. */
export const ConsentRow = defineEntity({
  name: 'ConsentRow',
  tableName: 'consent',
  properties: {
    /** UUID version 7, so sorting by id sorts by the time of consent. */
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    name: personal(p.text()),
    label: personal(p.json<ConsentWords>()),
    digest: personal(p.text()),
    language: personal(p.text()),
    place: personal(p.enum(['checkout', 'account'] as const)),
    givenAt: personal(p.datetime().defaultRaw('clock_timestamp()')),
    withdrawnAt: personal(p.datetime().nullable()),
  },
  indexes: [
    { name: 'consent_account', properties: ['account', 'name'] },
    { name: 'consent_given', properties: ['digest', 'id'], where: 'withdrawn_at is null' },
  ],
  uniques: [{ name: 'consent_in_force', properties: ['account', 'digest'], where: 'withdrawn_at is null' }],
});
