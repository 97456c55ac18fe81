import type { ImportDraft, DraftRoute } from '../draft.ts';
import { ImportedObject } from '../members.ts';
import { routerReasons, settingsReasons } from './litellm-reasons.ts';

export function importRouting(root: ImportedObject, draft: ImportDraft): void {
  const router = root.readObject('router_settings');
  const settings = root.readObject('litellm_settings');
  const primaryRoutes = new Map(Array.from(draft.models.values(), ({ name, routes }) => [name, routes]));
  for (const section of [router, settings]) {
    if (section === undefined) continue;
    for (const [index, entry] of section.readList('fallbacks').entries())
      addFallbacks(entry, `${section.pathOf('fallbacks')}[${index}]`, primaryRoutes, draft);
  }
  const defaultFallbacks = settings?.readList('default_fallbacks') ?? [];
  for (const name of primaryRoutes.keys())
    addRoutes(name, defaultFallbacks, settings?.pathOf('default_fallbacks') ?? '', primaryRoutes, draft);
  const aliases = router?.readObject('model_group_alias');
  for (const alias of aliases?.names ?? []) {
    const target = aliases?.read(alias);
    const isHidden = typeof target === 'object' && target !== null;
    const model = isHidden ? new ImportedObject(target, aliases?.pathOf(alias) ?? '', draft).readText('model') : target;
    draft.addAlias(aliases?.pathOf(alias) ?? alias, alias, String(model));
  }
  router?.noteUnread(routerReasons);
  settings?.noteUnread(settingsReasons);
}

type RoutesByModel = ReadonlyMap<string, readonly DraftRoute[]>;

function addFallbacks(entry: unknown, path: string, primaryRoutes: RoutesByModel, draft: ImportDraft): void {
  const fallback = new ImportedObject(entry, path, draft);
  for (const name of fallback.names) {
    if (name !== '*' && !primaryRoutes.has(name)) {
      draft.note(fallback.pathOf(name), 'the model was not imported');
      continue;
    }
    for (const model of name === '*' ? primaryRoutes.keys() : [name])
      addRoutes(model, fallback.readList(name), fallback.pathOf(name), primaryRoutes, draft);
  }
  fallback.noteUnread();
}

function addRoutes(
  name: string,
  fallbacks: readonly unknown[],
  path: string,
  primaryRoutes: RoutesByModel,
  draft: ImportDraft,
): void {
  const model = draft.models.get(name);
  if (model === undefined) return;
  const allRoutes: DraftRoute[] = [...model.routes];
  for (const fallback of fallbacks) {
    const routes = primaryRoutes.get(String(fallback));
    if (fallback === name) continue;
    if (routes === undefined) draft.note(path, `its fallback "${String(fallback).slice(0, 80)}" was not imported`);
    // A chat model cannot be the backup of an embedding model.
    if (routes === undefined || draft.models.get(String(fallback))?.kind !== model.kind) continue;
    const lastPriority = Math.max(...allRoutes.map(({ priority }) => priority));
    allRoutes.push(...routes.map((route) => ({ ...route, priority: lastPriority + 1 + route.priority })));
  }
  draft.addModel(path, { ...model, routes: allRoutes });
}
