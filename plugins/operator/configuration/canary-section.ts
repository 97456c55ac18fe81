import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import type { Canary } from '#core/config/history/canaries.ts';
import type { CanarySide } from '#core/config/history/canary-counts.ts';
import { canaryReasonBy } from '#core/config/history/canary-reason.ts';
import { RollbackRefused } from '#core/config/history/history.ts';
import { type ConfigChanges, configLoadState, toldFor } from '#core/extension/validation/load-state.ts';
import { accountOf, defineForm, FieldErrors, type PageForm, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { TableCell, TableSection } from '#core/web/pages/table.ts';
import { integer, object, string } from '#core/platform/schema.ts';

/** A canary beside the other accounts, ready to be printed. */
export interface CanaryView {
  readonly status: { readonly kind: 'ok' | 'warn' | 'bad' | 'info'; readonly text: string };
  /** Why it ended, or what the counts say. */
  readonly text: string;
  readonly table: TableSection | undefined;
  readonly isRunning: boolean;
  readonly number: number;
}

/** The canary that runs, or that has ended within a day. */
export async function readCanary({ canaries }: ConfigChanges, request: PageRequest): Promise<CanaryView | undefined> {
  const [canary] = await canaries.list(1);
  const { t, format, host } = request;
  if (canary === undefined || (canary.end !== undefined && host.now() - canary.end.at.getTime() > toldFor))
    return undefined;
  const { end, id: number, share, operator, until, counts } = canary;
  const values = {
    number,
    operator,
    share: format.percent(share, Number.isInteger(share * 100) ? 0 : 2),
    time: format.time(until).text,
  };
  const outcome = end?.outcome ?? 'running';
  return {
    status: { kind: kinds[outcome], text: t(`operator.canary_state.${outcome}`, values) },
    text: end === undefined ? t(`operator.canary_verdict.${verdictOf(canary, host.now())}`) : t(end.reason),
    table: counts && tableOf(counts.canary, counts.others, request),
    isRunning: end === undefined,
    number,
  };
}

const kinds = { running: 'info', full: 'ok', worse: 'bad', ended: 'warn' } as const;

function verdictOf({ verdict, until }: Canary, now: number): string {
  if (verdict === undefined) return 'none';
  return verdict === 'undecided' && until.getTime() <= now ? 'late' : verdict;
}

function tableOf(canary: CanarySide, others: CanarySide, { t, format }: PageRequest): TableSection {
  const count = (value: number): TableCell => ({ text: format.number(value) });
  const share = (value: number, { requests }: CanarySide): TableCell => ({
    text: requests === 0 ? format.number(value) : `${format.number(value)} (${format.percent(value / requests)})`,
  });
  const row = (side: CanarySide, name: string): TableCell[] => [
    { text: t(name) },
    count(side.accounts),
    count(side.requests),
    share(side.failures, side),
    share(side.refusals, side),
    { text: side.firstTokenMs === undefined ? '' : format.duration(side.firstTokenMs).text },
    count(side.timed),
  ];
  const column = (key: string) => ({ label: t(key), isNumber: true, isNamed: true, at: 'below' }) as const;
  return {
    id: 'canary',
    title: t('operator.canary'),
    columns: [
      { label: t('operator.canary_column.side'), at: 'title' },
      ...['accounts', 'requests', 'failures', 'refusals', 'first_token', 'timed'].map((name) =>
        column(`operator.canary_column.${name}`),
      ),
    ],
    rows: [row(canary, 'operator.canary_its'), row(others, 'operator.canary_others')],
  };
}

/** Ends the canary, or serves it to everybody. */
export const canaryForm: PageForm = defineForm({
  fields: object(['number', 'to'], {
    number: integer({ minimum: 1 }),
    to: string({ enum: ['full', 'end'] }),
  }),
  once: true,
  async submit({ number, to }, request) {
    const { changes } = configLoadState(request.host);
    if (changes === undefined) throw new PageError(503, 'operator.configurations_starting');
    const { id, email, name } = accountOf(request);
    const operator = { id, name: email ?? name };
    const action = to === 'full' ? 'configuration.canary_full' : 'configuration.canary_end';
    const words = { number };
    try {
      await recordAction(request.host.database, { operator, action, subject: 'configuration', words }, async () => {
        if (to === 'full') await changes.makeFull(number, canaryReasonBy('full', operator.name));
        else await changes.endCanary(number, canaryReasonBy('ended', operator.name));
      });
    } catch (error) {
      if (!(error instanceof RollbackRefused)) throw error;
      throw new FieldErrors({ '': 'operator.configuration_not_taken_back' }, { reason: error.message });
    }
    return new Redirect('/operator/configuration');
  },
});
