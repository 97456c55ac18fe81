import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { resolveOwnModules } from '../../core/own-modules.mjs';

/*
 * Loaded first by every process and thread of the tests. Modules are loaded as for the gateway itself, and their compiled code is shared
 * with the gateways that tests start.
 */
enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'daypass'));
resolveOwnModules();
const { resolveSelfReference } = await import('../../core/extension/self-reference.ts');
resolveSelfReference();
