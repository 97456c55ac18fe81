import type { ImportDraft, DraftRoute } from '../draft.ts';
import { ImportedObject } from '../members.ts';
import { routerReasons, settingsReasons } from './litellm-reasons.ts';

/** Imports aliases, and imports fallbacks as backup routes of the models that name them. */
export function aliasesAndFallbacks(root: ImportedObject, draft: ImportDraft): void {
  const router = root.members('router_settings');
  const settings = root.members('litellm_settings');
  const own = new Map(Array.from(draft.models.values(), ({ name, routes }) => [name, routes]));
  for (const section of [router, settings]) {
    if (section === undefined) continue;
    for (const [index, entry] of section.list('fallbacks').entries())
      addFallbacks(entry, `${section.at('fallbacks')}[${index}]`, own, draft);
  }
  const everyone = settings?.list('default_fallbacks') ?? [];
  for (const name of own.keys()) addRoutes(name, everyone, settings?.at('default_fallbacks') ?? '', own, draft);
  const aliases = router?.members('model_group_alias');
  for (const alias of aliases?.names ?? []) {
    const target = aliases?.take(alias);
    const isHidden = typeof target === 'object' && target !== null;
    const model = isHidden ? new ImportedObject(target, aliases?.at(alias) ?? '', draft).text('model') : target;
    draft.addAlias(aliases?.at(alias) ?? alias, alias, String(model));
  }
  router?.finish(routerReasons);
  settings?.finish(settingsReasons);
}

type RoutesByModel = ReadonlyMap<string, readonly DraftRoute[]>;

function addFallbacks(entry: unknown, path: string, own: RoutesByModel, draft: ImportDraft): void {
  const fallback = new ImportedObject(entry, path, draft);
  for (const name of fallback.names) {
    if (name === '*')
      for (const model of own.keys()) addRoutes(model, fallback.list(name), fallback.at(name), own, draft);
    else if (own.has(name)) addRoutes(name, fallback.list(name), fallback.at(name), own, draft);
    else draft.note(fallback.at(name), 'the model was not taken over');
  }
  fallback.finish();
}

function addRoutes(
  name: string,
  fallbacks: readonly unknown[],
  path: string,
  own: RoutesByModel,
  draft: ImportDraft,
): void {
  const model = draft.models.get(name);
  if (model === undefined) return;
  const added: DraftRoute[] = [...model.routes];
  for (const fallback of fallbacks) {
    const routes = own.get(String(fallback));
    if (fallback === name) continue;
    if (routes === undefined) draft.note(path, `its fallback "${String(fallback).slice(0, 80)}" was not taken over`);
    // A chat model cannot be the backup of an embedding model.
    if (routes === undefined || draft.models.get(String(fallback))?.kind !== model.kind) continue;
    const last = Math.max(...added.map(({ priority }) => priority));
    added.push(...routes.map((route) => ({ ...route, priority: last + 1 + route.priority })));
  }
  draft.addModel(path, { ...model, routes: added });
}
