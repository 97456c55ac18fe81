import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** A configuration that has been in effect. */
export const ServedConfiguration = defineEntity({
  name: 'ServedConfiguration',
  properties: {
    /** Consecutive number from 1, which people see. */
    id: p.integer().primary().autoincrement(false),
    /** Text of the file. Variables are not filled in, and literal secrets are masked. */
    text: impersonal(p.text()),
    digest: impersonal(p.text()),
    servedAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** `file`, the name of a variant, or the operator who rolled back to it. */
    broughtBy: impersonal(p.text()),
  },
});

/** The rollback in effect. The table has at most one row. */
export const ConfigurationRollback = defineEntity({
  name: 'ConfigurationRollback',
  properties: {
    /** Always 1. */
    id: p.smallint().primary().autoincrement(false),
    /** Digest of the file that is overridden. */
    fileDigest: impersonal(p.text()),
    configurationId: p.integer(),
    operator: impersonal(p.text()),
    note: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** Number of the promoted canary; null if an operator rolled back. */
    canary: p.integer().nullable(),
  },
});
