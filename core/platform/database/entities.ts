import { defineEntity, p } from '@mikro-orm/core';

/** A secret that the gateway has made itself, shared by all instances on the database. */
export const Secret = defineEntity({
  name: 'Secret',
  tableName: 'secret',
  properties: {
    name: p.text().primary(),
    value: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
