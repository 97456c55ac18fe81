/** Routes with the same priority share requests; lower priorities are tried first. */
export interface DraftRoute {
  readonly upstream: string;
  readonly model: string; // the upstream's name for it
  readonly priority: number;
  readonly weight?: number | undefined;
  readonly maxInputTokens?: number | undefined;
}

export interface DraftUpstream {
  readonly name: string;
  readonly vendor?: string | undefined;
  readonly formats?: readonly string[] | undefined;
  readonly baseUrl?: string | Reference | undefined;
  readonly auth?: string | undefined;
  readonly keys: readonly Reference[];
  readonly headers?: Readonly<Record<string, Reference>> | undefined;
  readonly credentials?: Readonly<Record<string, Readonly<Record<string, string | Reference | undefined>>>> | undefined;
  readonly capacity?: { readonly concurrent?: number; readonly requests?: number } | undefined;
  /** Where the source file defines it, for display. */
  readonly from: string;
}

export interface DraftModel {
  readonly name: string;
  readonly routes: readonly DraftRoute[];
  readonly kind?: string | undefined;
  readonly maxInputTokens?: number | undefined;
  readonly maxTokens?: number | undefined;
}

export interface UnmappedSetting {
  /** Path in the source file, such as `model_list[3].litellm_params.tpm`. */
  readonly path: string;
  readonly reason: string;
}

/** A variable in gateway.yaml. `${NAME:-}` is empty while the variable is unset, so the file is valid right away. */
export class Reference {
  readonly text: string;

  constructor(name: string, fallback = '', suffix = '') {
    this.text = `\${${name}:-${fallback}}${suffix}`;
  }
}

interface DraftVariable {
  readonly name: string;
  /** Never printed; undefined if the source file refers to the variable by name. */
  readonly value?: string | undefined;
  readonly from: string; // path in the source file
}

const templateVariables: ReadonlySet<string> = new Set(['BASE_URL', 'HOST', 'PORT']);

export class ImportDraft {
  readonly upstreams = new Map<string, DraftUpstream>();
  readonly models = new Map<string, DraftModel>();
  readonly aliases = new Map<string, string>();
  readonly variables = new Map<string, DraftVariable>();
  readonly unmapped: UnmappedSetting[] = [];
  readonly mentionedVariables = new Set<string>();
  readonly #referencesBySecret = new Map<string, Reference>();
  readonly #namesByMembers = new Map<string, string>();
  readonly #reserved: ReadonlySet<string>;

  /** @param reserved names that no secret's variable may have, because the source file mentions them */
  constructor(reserved: ReadonlySet<string> = new Set()) {
    this.#reserved = reserved;
  }

  /** Returns undefined, so that a caller can return it as the converted value. */
  note(path: string, reason: string): undefined {
    this.unmapped.push({ path, reason });
    return undefined;
  }

  #nameUpstream(sourceName: string): string {
    const validName = sourceName
      .normalize('NFKD')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replaceAll(/^[._-]+|[._-]+$/g, '')
      .slice(0, 60)
      .toLowerCase();
    return this.#findFreeName(validName || 'upstream', (name) => this.upstreams.has(name), '-');
  }

  addSecret(wantedName: string, value: string, from: string): Reference {
    const existingReference = this.#referencesBySecret.get(value);
    if (existingReference !== undefined) return existingReference;
    const variableName = wantedName.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    const isTaken = (name: string) => this.variables.has(name) || this.#reserved.has(name);
    const name = this.#findFreeName(/^[A-Z_]/.test(variableName) ? variableName : `KEY_${variableName}`, isTaken, '_');
    this.variables.set(name, { name, value, from });
    const reference = new Reference(name);
    this.#referencesBySecret.set(value, reference);
    return reference;
  }

  addVariable(name: string, from: string): Reference {
    this.mentionedVariables.add(name);
    if (templateVariables.has(name))
      this.note(from, `${name} is used by gateway.yaml itself: give the variable another name`);
    if (!this.variables.has(name)) this.variables.set(name, { name, from });
    return new Reference(name);
  }

  /** Returns the upstream's name: that of an identical existing upstream, or a new one. */
  addUpstream(wantedName: string, upstream: Omit<DraftUpstream, 'name'>): string {
    const { from: _, ...members } = upstream;
    const identity = JSON.stringify(members);
    const existingName = this.#namesByMembers.get(identity);
    if (existingName !== undefined) return existingName;
    const name = this.#nameUpstream(wantedName);
    this.upstreams.set(name, { name, ...upstream });
    this.#namesByMembers.set(identity, name);
    return name;
  }

  addModel(path: string, model: DraftModel): void {
    const reason = explainInvalidName(model.name);
    if (reason !== undefined) return this.note(path, reason);
    const existingModel = this.models.get(model.name);
    const routes = [...(existingModel?.routes ?? []), ...model.routes];
    const routesByTarget = new Map(routes.toReversed().map((route) => [`${route.upstream}/${route.model}`, route]));
    this.models.set(model.name, { ...existingModel, ...model, routes: [...routesByTarget.values()].toReversed() });
  }

  addAlias(path: string, alias: string, model: string): void {
    if (!this.models.has(model)) this.note(path, `its model "${model}" was not imported`);
    else if (this.models.has(alias)) this.note(path, `"${alias}" is the name of a model`);
    else if (/[|\\()[\]^$]|\s/.test(alias)) this.note(path, 'aliases support only the wildcard *');
    else this.aliases.set(alias, model);
  }

  #findFreeName(name: string, isTaken: (name: string) => boolean, separator: string): string {
    for (let count = 1; ; count++) {
      const candidate = count === 1 ? name : `${name}${separator}${count}`;
      if (!isTaken(candidate)) return candidate;
    }
  }
}

export const servicePrefix = 'dp';

export const wildcardReason = 'model names cannot contain *: add each model that you serve';

function explainInvalidName(name: string): string | undefined {
  if (name.includes('*')) return wildcardReason;
  if (!/^[A-Za-z0-9]\S{0,199}$/.test(name))
    return 'model names begin with a letter or digit and have no spaces: add it under another name';
  return name.startsWith(`${servicePrefix}/`)
    ? `names begin with the prefix "${servicePrefix}/" for clients anyway: leave it out`
    : undefined;
}
