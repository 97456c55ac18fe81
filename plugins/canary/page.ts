import { ConfigHistory } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { VariantNotice } from '#core/extension/variants.ts';
import { integer, object, string } from '#core/platform/schema.ts';
import { runFormAction } from '#core/web/actions/action-page.ts';
import { defineForm, type Page, type PageForm, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { type ColumnOf, describeTable, type TableSection } from '#core/web/pages/table.ts';
import { endAction, fullAction } from './actions.ts';
import { Canaries, type Canary } from './record/canaries.ts';
import type { CanarySide } from './record/canary-counts.ts';
import { resultShownMs } from './run/state.ts';

const pagePath = '/operator/configuration/canary';

export function createCanaries(registry: Registry, { database }: Pick<PageRequest['host'], 'database'>): Canaries {
  return new Canaries(database, new ConfigHistory(database, registry));
}

export const createCanaryPage = (registry: Registry): Page => ({
  path: pagePath,
  role: 'operator',
  title: 'operator.canary',
  template: 'canary/page.eta',
  async show(request) {
    const canary = await readShownCanary(registry, request);
    if (canary === undefined) return { canary };
    const { end, id: number, counts } = canary;
    return {
      canary: {
        status: describeStatus(canary, request),
        table: counts && describeSides(counts.canary, counts.others, request),
        isRunning: end === undefined,
        number,
      },
    };
  },
  forms: [canaryForm],
});

export async function describeNotice(registry: Registry, request: PageRequest): Promise<VariantNotice | undefined> {
  const canary = await readShownCanary(registry, request);
  return (
    canary && {
      ...describeStatus(canary, request),
      action: { path: pagePath, label: request.t('operator.canary_show') },
    }
  );
}

async function readShownCanary(registry: Registry, { host }: PageRequest): Promise<Canary | undefined> {
  const [canary] = await createCanaries(registry, host).list(1);
  const isOld = canary?.end !== undefined && host.now() - canary.end.at.getTime() > resultShownMs;
  return isOld ? undefined : canary;
}

const statusKinds = { running: 'info', full: 'ok', worse: 'bad', ended: 'warn' } as const;

function describeStatus(canary: Canary, { t, format, host }: PageRequest): Omit<VariantNotice, 'action'> {
  const { end, id: number, share, operator, until } = canary;
  const values = {
    number,
    operator,
    share: format.percent(share, Number.isInteger(share * 100) ? 0 : 2),
    time: format.time(until).text,
  };
  const outcome = end?.outcome ?? 'running';
  return {
    kind: statusKinds[outcome],
    title: t(`operator.canary_state.${outcome}`, values),
    text: end === undefined ? t(`operator.canary_verdict.${chooseVerdictKey(canary, host.now())}`) : t(end.reason),
  };
}

function chooseVerdictKey({ verdict, until }: Canary, now: number): string {
  if (verdict === undefined) return 'none';
  return verdict === 'undecided' && until.getTime() <= now ? 'late' : verdict;
}

const column = (name: string, cell: ColumnOf<CanarySide>['cell']): ColumnOf<CanarySide> => ({
  label: `operator.canary_column.${name}`,
  isNumber: true,
  isNamed: true,
  at: 'below',
  cell,
});

function describeSides(canary: CanarySide, others: CanarySide, request: PageRequest): TableSection {
  const { t, format } = request;
  const share = (value: number, { requests }: CanarySide) =>
    requests === 0 ? value : `${format.number(value)} (${format.percent(value / requests)})`;
  const nameSide = (side: CanarySide) => t(side === canary ? 'operator.canary_its' : 'operator.canary_others');
  return describeTable(
    request,
    'canary',
    'operator.canary',
    [canary, others],
    [
      { label: 'operator.canary_column.side', at: 'title', cell: nameSide },
      column('accounts', ({ accounts }) => accounts),
      column('requests', ({ requests }) => requests),
      column('failures', (side) => share(side.failures, side)),
      column('refusals', (side) => share(side.refusals, side)),
      column('first_token', ({ firstTokenMs: ms }) => (ms === undefined ? '' : format.duration(ms).text)),
      column('timed', ({ timed }) => timed),
    ],
  );
}

const canaryForm: PageForm = defineForm({
  fields: object(['number', 'to'], {
    number: integer({ minimum: 1 }),
    to: string({ enum: ['full', 'end'] }),
  }),
  once: true,
  async submit({ number, to }, request) {
    await runFormAction(request, to === 'full' ? fullAction : endAction, '', { number });
    return new Redirect(pagePath);
  },
});
