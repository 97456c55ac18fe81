import * as accounts from '#core/business/accounts/entities.ts';
import * as mail from '#core/business/mail/entities.ts';
import * as modelHealth from '#core/business/model-health/entities.ts';
import * as operatorActions from '#core/business/operator-actions/entities.ts';
import * as payments from '#core/business/payments/entities.ts';
import * as configHistory from '#core/config/history/entities.ts';
import * as records from '#core/gateway/records/entities.ts';
import * as database from '#core/platform/database/secret-entity.ts';
import type { Entities } from '#core/platform/database/tables.ts';

/** Core's own tables. Plugins register theirs with `tables`. */
export const coreEntities: Entities = [
  accounts.Account,
  accounts.ApiKey,
  accounts.PlanPeriod,
  accounts.LinkedIdentity,
  accounts.Session,
  accounts.AccountEventRow,
  accounts.PersonalTableRow,
  mail.MailMessage,
  ...[configHistory, database, modelHealth, operatorActions, payments, records].flatMap((module) =>
    Object.values(module),
  ),
];
