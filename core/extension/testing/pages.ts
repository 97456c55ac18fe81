import type { OrderLine } from '#core/business/payments/order-lines.ts';
import type { CheckoutPart, CheckoutStep } from '#core/web/pages/checkout-step.ts';
import { Download, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { resolveTemplatePaths } from '#core/web/pages/views.ts';
import { AssetTable } from '#core/web/serving/assets.ts';
import { ownAssets, ownTexts } from '#core/web/serving/own-parts.ts';
import { Renderer } from '#core/web/serving/renderer.ts';
import type { Visit } from '#core/web/serving/visit.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import type { Language, Texts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { createTestHost, type TestHost } from './test-host.ts';

/** The reader who requests a page; by default, a signed-in account that reads English. */
export interface TestReader extends Partial<Pick<PageRequest, 'params' | 'query' | 'form' | 'account' | 'isOperator'>> {
  readonly host?: TestHost;
  /** Default: `en`. */
  readonly language?: Language;
  /** The plugin's own texts. Texts of other plugins are shown as their keys. */
  readonly texts?: Texts;
}

function createRequest(reader: TestReader, path: string): PageRequest {
  const { host = createTestHost(), language = 'en', texts, ...overrides } = reader;
  return {
    id: 'test',
    host,
    path,
    params: {},
    query: {},
    language,
    t: new Translator(texts === undefined ? [ownTexts] : [ownTexts, texts]).in(language),
    format: getFormatter(language, 'UTC'),
    account: { id: 'account-1', name: 'Ani', email: 'ani@example.com', avatarUrl: undefined },
    sessionId: 'session-1',
    isOperator: false,
    userAgent: '',
    address: '203.0.113.7',
    isThisMachine: false,
    form: { values: {}, errors: {} },
    formToken: (form) => `token of ${form}`,
    remember: () => undefined,
    signIn: async () => undefined,
    signOut: async () => undefined,
    ...overrides,
  };
}

export interface ShownPage {
  /** Return value of `show`. */
  readonly shown: object;
  /** The HTML of the page itself, without the layout; '' if `show` returned a redirect or a file. */
  readonly html: string;
}

/**
 * Shows one page. Plugin assets are not available, so a template that uses one throws.
 *
 * @throws the page's own error, such as PageError
 */
export async function showPage(page: Page, reader: TestReader = {}): Promise<ShownPage> {
  const request = createRequest(reader, page.path);
  const shown = await page.show(request);
  const { template } = resolveTemplatePaths(page);
  if (shown instanceof Redirect || shown instanceof Download || template === undefined) return { shown, html: '' };
  const renderer = new Renderer([page], await AssetTable.load(ownAssets));
  const title = request.t(page.title, shown as Record<string, string>);
  const visit = { ...request, theme: 'system' } as unknown as Visit;
  return { shown, html: renderer.render(visit, { title, layout: 'none', template, values: shown }) };
}

/** Result of running a checkout step: what it showed to the buyer, and the lines it stored with the order. */
export interface CheckoutRun {
  readonly part: CheckoutPart | undefined;
  /** Error texts by field; empty if the order was placed. */
  readonly errors: Readonly<Record<string, string>>;
  readonly lines: readonly OrderLine[];
  /** Statements that the step executed in the transaction. */
  readonly statements: readonly { readonly sql: string; readonly parameters: readonly unknown[] }[];
}

interface CheckoutOptions extends TestReader {
  /** Returns the rows for a statement; default: none. */
  readonly answer?: (sql: string, parameters: readonly unknown[]) => readonly object[];
  /** False if an open order is placed again. */
  readonly isNew?: boolean;
}

/** Shows a checkout step to a buyer, then submits the form with the step's hidden fields and the values in `sent`. */
export async function runCheckoutStep(
  step: CheckoutStep,
  sent: Readonly<Record<string, string>> = {},
  { answer = () => [], isNew = true, ...reader }: CheckoutOptions = {},
): Promise<CheckoutRun> {
  const request = createRequest(reader, '/buy');
  const part = await step.show(request);
  const statements: CheckoutRun['statements'][number][] = [];
  const transaction = {
    async execute(sql: string, parameters: readonly unknown[] = []) {
      statements.push({ sql, parameters });
      return answer(sql, parameters);
    },
  };
  try {
    const record = await step.submit({ ...part?.hidden, ...sent }, request);
    const order = { id: 'order-1', accountId: request.account?.id ?? '', isNew };
    return { part, errors: {}, lines: (await record?.(transaction as never, order)) ?? [], statements };
  } catch (error) {
    if (!(error instanceof FieldErrors)) throw error;
    const errors = Object.entries(error.fields).map(([name, key]) => [name, request.t(key, error.values)]);
    return { part, errors: Object.fromEntries(errors), lines: [], statements };
  }
}
