import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { backupCheck, backupGauges } from './backup-state.ts';
import { backupCommand } from './command.ts';
import { backupSection } from './section.ts';
import { backupJob } from './take-scheduled.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Takes backups of the database and of waiting records, by schedule and by command. */
export const plugin: GatewayPlugin = {
  name: 'backup',
  register({ gateway }) {
    gateway.section(backupSection);
    gateway.texts(defineTexts({ en, id }));
    gateway.command(backupCommand);
    gateway.job(backupJob);
    gateway.healthCheck(backupCheck);
    for (const gauge of backupGauges) gateway.gauge(gauge);
  },
};
