import { AccountError } from '#core/business/accounts/account-error.ts';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { object, string } from '#core/platform/schema.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { type DataRequest, listAccountRequests, pauseOwnAccount, recordRequest, resumeOwnAccount } from './requests.ts';
import { dataRequestsSection } from './section.ts';

export const ownPath = '/account/data-requests';

const maxListed = 20;

const askForm = defineForm({
  fields: object(['kind', 'text'], {
    kind: { enum: ['correction', 'access', 'other'] },
    text: string({ minLength: 1, maxLength: 2_000, pattern: '\\S' }),
  }),
  once: true,
  async submit({ kind, text }, request) {
    requireEnabled(request);
    const { id: accountId } = accountOf(request);
    await translateErrors(async () => recordRequest(request.host, { kind, channel: 'page', accountId, text }));
    return new Redirect(`${ownPath}?done=asked`);
  },
});

const pauseForm = defineForm({
  path: `${ownPath}/pause`,
  fields: object({}),
  async submit(_input, request) {
    requireEnabled(request);
    await translateErrors(async () => pauseOwnAccount(request.host, accountOf(request).id), {
      too_many: 'data_requests.too_many_pauses',
    });
    return new Redirect(`${ownPath}?done=paused`);
  },
});

const resumeForm = defineForm({
  path: `${ownPath}/resume`,
  fields: object({}),
  async submit(_input, request) {
    await resumeOwnAccount(request.host, accountOf(request).id);
    return new Redirect(`${ownPath}?done=resumed`);
  },
});

const errorTexts: Readonly<Record<string, string>> = {
  too_many: 'data_requests.too_many',
  blocked: 'data_requests.paused_already',
};

async function translateErrors(action: () => Promise<unknown>, actionTexts: typeof errorTexts = {}): Promise<void> {
  try {
    await action();
  } catch (error) {
    const text = error instanceof AccountError ? { ...errorTexts, ...actionTexts }[error.kind] : undefined;
    throw text === undefined ? error : new FieldErrors({ '': text });
  }
}

export const ownPage: Page = {
  path: ownPath,
  role: 'account',
  title: 'data_requests.own_title',
  navigation: { label: 'data_requests.own_title', icon: 'list', order: 85, place: 'menu' },
  isListed: (host) => host.section(dataRequestsSection).enabled,
  template: 'data-requests/own.eta',
  styles: ['data-requests/own.css'],
  async show(request) {
    const { host, t, query } = request;
    const { id } = accountOf(request);
    const [[account], requests] = await Promise.all([
      readAccounts(host.database, 'id', [id]),
      listAccountRequests(host.database, id, maxListed),
    ]);
    // A paused account can always be resumed.
    if (account?.pausedAt === undefined) requireEnabled(request);
    const done = ['asked', 'paused', 'resumed'].find((name) => name === query['done']);
    return {
      done: done === undefined ? '' : t(`data_requests.done.${done}`),
      lead: t('data_requests.own_lead', { count: host.section(dataRequestsSection).answer_hours }),
      paused:
        account?.pausedAt === undefined
          ? ''
          : t('data_requests.paused_since', { day: request.format.day(account.pausedAt).text }),
      pausePath: `${ownPath}/pause`,
      resumePath: `${ownPath}/resume`,
      requests: requests.map((dataRequest) => describeDataRequest(dataRequest, request)),
    };
  },
  forms: [askForm, pauseForm, resumeForm],
};

function describeDataRequest(
  { kind, text, receivedAt, dueAt, answeredAt, outcome, answer }: DataRequest,
  request: PageRequest,
) {
  const { t, format } = request;
  return {
    title: t(`data_requests.kind.${kind}`),
    text: text ?? '',
    received: t('data_requests.received_on', { time: format.time(receivedAt).text }),
    state:
      answeredAt === undefined || outcome === undefined
        ? t('data_requests.answer_by', { time: format.time(dueAt).text })
        : t(`data_requests.answered_on.${outcome}`, { time: format.time(answeredAt).text }),
    answer: answer ?? '',
  };
}

function requireEnabled({ host }: Pick<PageRequest, 'host'>): void {
  if (!host.section(dataRequestsSection).enabled) throw new PageError(404, 'error.404.text');
}
