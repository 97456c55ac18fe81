import { formatContact, whatsAppNumber } from '#core/gateway/host/contact.ts';
import { listNavigation } from '../pages/list-navigation.ts';
import type { Page, Role } from '../pages/page.ts';
import { signInPath, signOutPath } from '../sessions/sign-in.ts';
import { languages } from '../texts/texts.ts';
import { themes, type Visit } from './visit.ts';
import { wellKnownPaths } from '../pages/paths.ts';

/** Entries that fit next to "Account" in the bottom bar of phones. */
const maxBarEntries = 4;

const rolesOfLayouts: Readonly<Record<string, Role>> = { site: 'public', account: 'account', operator: 'operator' };

/** Returns the layout of a page that does not set one. */
export function defaultLayout(role: Role): NonNullable<Page['layout']> {
  return role === 'public' ? 'site' : role;
}

/** Styles of a page that does not set any. */
export function defaultStyles(role: Role): readonly string[] {
  return role === 'operator' ? ['operator.css', 'tables.css'] : [];
}

/** Describes the links of the layout to other pages: navigation, menu, well-known pages. */
export function describeShell(pages: readonly Page[], visit: Visit, layout: NonNullable<Page['layout']>) {
  const { t, path, account } = visit;
  const role = rolesOfLayouts[layout];
  const listedPages = pages.filter((page) => page.isListed?.(visit.host) ?? true);
  const listed = (place: 'main' | 'menu', of = role) =>
    of === undefined ? [] : listNavigation(listedPages, { role: of, place }, path, t);
  const has = (name: keyof typeof wellKnownPaths) => pages.some((page) => page.path === wellKnownPaths[name]);
  const at = (name: keyof typeof wellKnownPaths, isShown = true) => (isShown && has(name) ? wellKnownPaths[name] : '');
  const main = listed('main');
  const menu = account === undefined ? [] : listed('menu', 'account');
  const bar = layout === 'operator' ? main : main.filter(({ isInBar }) => isInBar).slice(0, maxBarEntries);
  const rest = main.filter((entry) => !bar.includes(entry));
  return {
    navigation: main,
    /** Entries of the bottom bar of phones, and the remaining entries. */
    bar,
    rest,
    menu,
    isAccountPage: path === wellKnownPaths.account || [...rest, ...menu].some((entry) => entry.isCurrent),
    initials: initialsOf(account?.name ?? ''),
    languages: languages.map((id) => ({ id, name: t(`language.${id}`), short: t(`language.short.${id}`) })),
    themes,
    /** Paths of well-known pages; '' for pages that do not exist or that this visitor cannot open. */
    signIn: account === undefined && pages.some((page) => page.path === signInPath) ? signInPath : '',
    signOut: pages.some(({ forms = [] }) => forms.some((form) => form.path === signOutPath)) ? signOutPath : '',
    status: at('status'),
    dashboard: at('dashboard', account !== undefined),
    accountPages: at('account', account !== undefined),
    operator: at('operator', visit.isOperator),
  };
}

/** Returns the text of a contact link: the address of `mailto:`, the number of WhatsApp, or the host of any other link. */
export function contactText(contact: string): string {
  if (whatsAppNumber(contact) !== undefined) return formatContact({ contact }) ?? '';
  return contact.startsWith('mailto:') ? contact.slice('mailto:'.length) : (URL.parse(contact)?.host ?? contact);
}

/** Initials of the first and the last word: `RP` for "Rani Putri". */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase();
}
