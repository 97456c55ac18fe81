import type { Route } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import { cloudVendors } from '../../../../plugins/upstream/vendors/clouds.ts';
import { hostVendors } from '../../../../plugins/upstream/vendors/hosts.ts';
import { labVendors } from '../../../../plugins/upstream/vendors/labs.ts';
import { originVendors } from '../../../../plugins/upstream/vendors/origins.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';

export type ClientFormatName = 'chat' | 'responses' | 'messages' | 'gemini';

export interface NamedRoute {
  readonly name: string;
  readonly format: string;
  readonly route: Route;
}

const conversational = new Set(['chat', 'responses', 'messages', 'gemini', 'ollama']);

/** A route of every vendor preset in each of its formats, and one of each format without a preset. */
export const routes: readonly NamedRoute[] = [
  ...[...originVendors, ...labVendors, ...hostVendors, ...cloudVendors].flatMap(
    ({ name, formats, quirks, capabilities }) =>
      formats
        .filter((format) => conversational.has(format))
        .map((format) => routeOf(`${name} ${format}`, format, { quirks, capabilities })),
  ),
  ...[...conversational].map((format) => routeOf(`plain ${format}`, format, {})),
];

function routeOf(name: string, format: string, settings: ProfileSettings): NamedRoute {
  const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: [format] });
  return { name, format, route: routeTo(upstream, { profile: mergeProfiles(settings) }) };
}
