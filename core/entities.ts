import * as accounts from './accounts/entities.ts';
import * as database from './database/entities.ts';
import type { Entities } from './database/tables.ts';
import * as modelHealth from './model-health/entities.ts';
import * as operatorActions from './operator-actions/entities.ts';
import * as payments from './payments/entities.ts';
import * as records from './records/entities.ts';

/** The tables of core. Those of plugins are registered with `tables`. */
export const coreEntities: Entities = [
  accounts.Account,
  accounts.ApiKey,
  accounts.PlanPeriod,
  accounts.LinkedIdentity,
  accounts.Session,
  accounts.StoredEvent,
  ...[database, modelHealth, operatorActions, payments, records].flatMap((room) => Object.values(room)),
];
