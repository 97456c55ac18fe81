import type { Catalog, Model } from '#core/config/catalog/catalog.ts';
import { inferKind } from '#core/config/catalog/kinds.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { descriptors, type Format } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';

/** A model with one route, to an upstream that speaks these formats. */
export function modelOf(id: string, formats: readonly Format[] = ['chat'], settings: Partial<Model> = {}): Model {
  return {
    id,
    publicName: `dp/${id}`,
    displayName: id,
    kind: inferKind(undefined, formats, new Map(Object.entries(descriptors))),
    routes: [routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }))],
    maxInputTokens: undefined,
    maxOutputTokens: undefined,
    ...settings,
  };
}

/** A host that has these models; `alias` leads to the first, and is what is suggested for any other name. */
export function hostOf(models: readonly Model[]): Host {
  const listed = models.map((model) => ({ name: model.publicName, model }));
  const [first] = models;
  if (first !== undefined) listed.push({ name: 'alias', model: first });
  const names = new Map(listed.map(({ name, model }) => [name, model]));
  for (const model of models) names.set(model.id, model);
  const catalog: Catalog = {
    models,
    listed,
    upstreams: models.flatMap(({ routes }) => routes.map(({ upstream }) => upstream)),
    unavailable: [],
    isUnavailable: () => false,
    resolve: (name) => names.get(name),
    suggest: (name) => (name.startsWith('al') ? 'alias' : undefined),
  };
  const host: Partial<Host> = {
    catalog,
    keep: (_key, create) => create(),
    service: { name: 'Daypass', prefix: 'dp', slug: 'daypass', baseUrl: 'https://gateway.example', contact: undefined },
  };
  return host as Host;
}
