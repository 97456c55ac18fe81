import { formatContact, parseWhatsAppNumber } from '#core/gateway/host/contact.ts';
import { listNavigation } from '../pages/list-navigation.ts';
import type { Page, Role } from '../pages/page.ts';
import { wellKnownPaths } from '../pages/paths.ts';
import { signInPath, signOutPath } from '../sessions/sign-in.ts';
import { languages } from '../texts/texts.ts';
import { themes, type Visit } from './visit.ts';

const maxBarEntries = 4; // next to "Account" in the bottom bar on phones

const roleByLayout: Readonly<Record<string, Role>> = { site: 'public', account: 'account', operator: 'operator' };

export function getDefaultLayout(role: Role): NonNullable<Page['layout']> {
  return role === 'public' ? 'site' : role;
}

export function getDefaultStyles(role: Role): readonly string[] {
  return role === 'operator' ? ['operator.css', 'tables.css'] : [];
}

/** Describes the layout's links to other pages: navigation, menu, well-known pages. */
export function describeShell(pages: readonly Page[], visit: Visit, layout: NonNullable<Page['layout']>) {
  const { t, path, account } = visit;
  const role = roleByLayout[layout];
  const listedPages = pages.filter((page) => page.isListed?.(visit.host) ?? true);
  const listEntriesAt = (place: 'main' | 'menu', entryRole = role) =>
    entryRole === undefined ? [] : listNavigation(listedPages, { role: entryRole, place }, path, t);
  const has = (name: keyof typeof wellKnownPaths) => pages.some((page) => page.path === wellKnownPaths[name]);
  const pathIfShown = (name: keyof typeof wellKnownPaths, isShown = true) =>
    isShown && has(name) ? wellKnownPaths[name] : '';
  const main = listEntriesAt('main');
  const menu = account === undefined ? [] : listEntriesAt('menu', 'account');
  const bar = layout === 'operator' ? main : main.filter(({ isInBar }) => isInBar).slice(0, maxBarEntries);
  const rest = main.filter((entry) => !bar.includes(entry));
  return {
    navigation: main,
    // The bottom bar on phones, and the entries that do not fit.
    bar,
    rest,
    menu,
    isAccountPage: path === wellKnownPaths.account || [...rest, ...menu].some((entry) => entry.isCurrent),
    initials: getInitials(account?.name ?? ''),
    languages: languages.map((id) => ({ id, name: t(`language.${id}`), short: t(`language.short.${id}`) })),
    themes,
    // '' if a page does not exist or this visitor cannot open it.
    signIn: account === undefined && pages.some((page) => page.path === signInPath) ? signInPath : '',
    signOut: pages.some(({ forms = [] }) => forms.some((form) => form.path === signOutPath)) ? signOutPath : '',
    status: pathIfShown('status'),
    dashboard: pathIfShown('dashboard', account !== undefined),
    accountPages: pathIfShown('account', account !== undefined),
    operator: pathIfShown('operator', visit.isOperator),
  };
}

/** Returns the text for a contact link: the address of a `mailto:` link, the number of a WhatsApp link, or the host of any other. */
export function formatContactLink(contact: string): string {
  if (parseWhatsAppNumber(contact) !== undefined) return formatContact({ contact }) ?? '';
  return contact.startsWith('mailto:') ? contact.slice('mailto:'.length) : (URL.parse(contact)?.host ?? contact);
}

/** `RP` for "Rani Putri". */
export function getInitials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase();
}
