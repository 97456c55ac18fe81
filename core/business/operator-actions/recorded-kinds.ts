import type { RecordedKind } from './action-kind.ts';
import { itself, within } from './telling.ts';

const number = { number: within('operator.told.canary', 'number') };
const configuration = { configuration: within('operator.configuration_number', 'number') };

/** Actions that pages and commands of their own record, some beside an action that is registered. */
export const recordedKinds: readonly RecordedKind[] = [
  { name: 'configuration.rollback', tells: configuration },
  { name: 'configuration.release', tells: configuration },
  {
    name: 'configuration.canary_begin',
    tells: {
      number: number.number,
      file: itself,
      share: within('operator.told.share', 'share'),
      minutes: within('operator.credit_minutes', 'count'),
    },
  },
  { name: 'configuration.canary_full', tells: number },
  { name: 'configuration.canary_end', tells: number },
];
