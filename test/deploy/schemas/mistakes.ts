import { Ajv } from 'ajv';
import schemas from './kubernetes.json' with { type: 'json' };

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'kubernetes', ...schemas });

/** What a published schema has against a manifest. */
export function mistakesOf(manifest: Manifest): string[] {
  const kind = `${manifest.apiVersion}/${manifest.kind}`;
  const check = ajv.getSchema(`kubernetes#/kinds/${kind.replaceAll('/', '~1')}`);
  if (check === undefined) return [`no schema of ${kind}: add it to test/deploy/schemas/sources.ts`];
  return check(manifest) === true
    ? []
    : (check.errors ?? []).map(
        ({ instancePath, message, params }) => `${kind} ${instancePath} ${message} ${JSON.stringify(params)}`,
      );
}
