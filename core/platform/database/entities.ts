import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from './personal.ts';

/** A secret that the gateway has made itself, shared by all instances on the database. */
export const Secret = defineEntity({
  name: 'Secret',
  properties: {
    name: impersonal(p.text().primary()),
    value: impersonal(p.text()),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
