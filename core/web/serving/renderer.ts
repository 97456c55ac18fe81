import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Eta, type TemplateFunction } from 'eta';
import { suggest } from '#core/config/file/mistake.ts';
import { type ReadSiteLinks, selectSiteLinks } from '../markdown/site-links.ts';
import { renderIcon } from '../pages/icons.ts';
import { listEntries } from '../pages/list-navigation.ts';
import type { Page, Role } from '../pages/page.ts';
import { viewsFolder } from '../pages/views.ts';
import type { Translator } from '../texts/translator.ts';
import type { AssetTable } from './assets.ts';
import { formatContactLink, describeShell } from './layout.ts';
import { getPublicOrigin, themeColors } from './site-files.ts';
import type { Visit } from './visit.ts';

const liveScripts = ['htmx.js', 'htmx-sse.js', 'live.js'];

const printValue = (value: unknown) => String(value ?? ''); // a new form has no values and no errors

const layoutFile = join(viewsFolder, 'shell/layout.eta');

interface View {
  readonly title: string;
  readonly description?: string;
  readonly note?: string;
  readonly layout: NonNullable<Page['layout']>;
  readonly template: string;
  readonly styles?: readonly string[] | undefined;
  readonly scripts?: readonly string[] | undefined;
  readonly live?: string; // URL of the stream that updates the live parts; '' if there are none
  readonly values: object;
}

/** Renders pages inside the layout. Everything that templates print is escaped, except with `<%~ … %>`, which is for parts and icons. */
export class Renderer {
  readonly #pages: readonly Page[];
  readonly #assets: AssetTable;
  readonly #eta = new Eta({ views: viewsFolder, cache: true, autoFilter: true, filterFunction: printValue });
  readonly #readLinks: ReadSiteLinks | undefined;
  readonly #templates = new Map<string, (context: object) => string>();

  /** @param readLinks reads links to the shop's own texts, if a plugin provides them */
  constructor(pages: readonly Page[], assets: AssetTable, readLinks?: ReadSiteLinks) {
    this.#readLinks = readLinks;
    this.#pages = pages;
    this.#assets = assets;
  }

  render(visit: Visit, view: View): string {
    const context = this.#createContext(visit, view);
    const content = this.#compile(view.template)(context);
    return view.layout === 'none' ? content : this.#compile(layoutFile)({ ...context, content });
  }

  /** Renders parts of a page, all with the same values. `templates` are absolute paths, by part. */
  renderParts(visit: Visit, templates: Readonly<Record<string, string>>, values: object): Map<string, string> {
    const context = this.#createContext(visit, { title: '', layout: 'none', template: '', values });
    return new Map(Object.entries(templates).map(([name, file]) => [name, this.#compile(file)(context)]));
  }

  /** Compiles each template only once, because open pages are rendered every second. */
  #compile(file: string): (context: object) => string {
    const existing = this.#templates.get(file);
    if (existing !== undefined) return existing;
    const options = { filepath: file };
    const compiled: TemplateFunction = this.#eta.compile(readFileSync(file, 'utf8'), options);
    const render = (context: object) => this.#eta.render(compiled, context, options);
    this.#templates.set(file, render);
    return render;
  }

  #createContext(visit: Visit, view: View): object {
    return {
      ...view.values,
      form: visit.form,
      t: visit.t,
      icon: renderIcon,
      asset: (name: string) => this.#assets.url(name),
      formToken: (path: string) => visit.formToken(path),
      page: this.#describePage(visit, view),
    };
  }

  #describePage(visit: Visit, { title, description, note = '', layout, styles = [], scripts = [], live = '' }: View) {
    const { service } = visit.host;
    const links = selectSiteLinks(visit, this.#readLinks);
    return {
      ...describeShell(this.#pages, visit, layout),
      title,
      description: description ?? '',
      note,
      service: service.name,
      prefix: service.prefix,
      origin: getPublicOrigin(visit.host),
      contact: service.contact ?? '',
      contactText: formatContactLink(service.contact ?? ''),
      terms: links.terms ?? '',
      privacy: links.privacy ?? '',
      refunds: links.refunds ?? '',
      contactPage: links.contact ?? '',
      texts: links.more ?? [],
      language: visit.language,
      zone: visit.format.timeZone.replaceAll('_', ' '),
      theme: visit.theme,
      themeColors,
      colorScheme: visit.theme === 'system' ? 'light dark' : visit.theme,
      path: visit.path,
      layout,
      styles,
      scripts: live === '' ? scripts : [...new Set([...liveScripts, ...scripts])],
      live,
      build: this.#assets.build,
      account: visit.account,
      isPublicDemo: service.isPublicDemo === true,
    };
  }

  has(path: string): boolean {
    return this.#pages.some((page) => page.path === path);
  }
}

const roles: readonly Role[] = ['public', 'account', 'operator'];

const reservedPath = /^\/(v1|v1beta|v1alpha|v1beta1|v2|anthropic|openai|assets)(\/|$)/;

/** @throws Error naming the mistake */
export async function checkPage(page: Page, translator: Translator, assets: AssetTable): Promise<void> {
  const createError = (reason: string) => new Error(`page "${page.path}": ${reason}`);
  if (reservedPath.test(page.path))
    throw createError('pages cannot be below /v1, /v1beta, /v1alpha, /v1beta1, /v2, /anthropic, /openai or /assets');
  if (!roles.includes(page.role)) throw createError(`role is "${String(page.role)}"; ${suggest(page.role, roles)}`);
  const entries = listEntries(page);
  if (page.path.includes('{') && (page.within !== undefined || entries.length > 0))
    throw createError('its path has a placeholder, so no page can link to it; omit `within` and `navigation`');
  for (const { icon } of entries)
    if (icon !== undefined && renderIcon(icon) === '') throw createError(`icon "${icon}" not found`);
  const labels = entries.map(({ label }) => label);
  const keys = [page.title, page.description, ...labels].filter((key) => key !== undefined);
  const unknownKey = keys.find((key) => !translator.has(key));
  if (unknownKey !== undefined) throw createError(`text "${unknownKey}" not found`);
  const missingAsset = [...(page.styles ?? []), ...(page.scripts ?? [])].find(
    (name) => assets.find(name) === undefined,
  );
  if (missingAsset !== undefined) throw createError(`asset "${missingAsset}" not found`);
  for (const part of Object.values(page.live?.parts ?? {})) await checkTemplate(part, createError);
  if (page.template !== undefined) await checkTemplate(page.template, createError);
}

async function checkTemplate(path: string, createError: (why: string) => Error): Promise<void> {
  const template = await readFile(path, 'utf8').catch(() => {
    throw createError(`template ${path} not found`);
  });
  // A test compiles the gateway's own templates. Doing it here as well would slow down every start.
  if (path.startsWith(viewsFolder + sep)) return;
  try {
    new Eta().compile(template);
  } catch (error) {
    throw createError(`template ${path} is malformed: ${describeSyntaxError(String(error))}`);
  }
}

function describeSyntaxError(error: string): string {
  const [place = '', what = ''] = error.replace(/^.*?: /, '').split(/\n+/);
  return place === 'Bad template syntax' ? what : place.replace(/:$/, '');
}
