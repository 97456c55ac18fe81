import { parse } from 'yaml';
import {
  describeCycle,
  findDevelopmentImports,
  findFileCycles,
  findFolderCycles,
  findForbidden,
  findOutsideContract,
  type PluginContract,
} from './import-rules.ts';
import { readModuleGraph } from './module-graph.ts';
import type { SourceTree } from './source-tree.ts';

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function checkImports(tree: SourceTree): { readonly mistakes: string[]; readonly modules: number } {
  const graph = readModuleGraph(tree);
  const { devDependencies } = JSON.parse(tree.read('package.json')) as Manifest;
  const development = new Set(Object.keys(devDependencies));
  const contract = parse(tree.read('.ci/plugin-contract.yaml')) as PluginContract;
  const isMissing = (target: string) => !graph.has(target) && !tree.has(target);
  const mistakes = [
    ...[...graph].flatMap(([file, targets]) =>
      targets.filter(isMissing).map((target) => `${file}: imports ${target}, which does not exist`),
    ),
    ...findForbidden(graph),
    ...findOutsideContract(graph, contract),
    ...[...graph.keys()].flatMap((file) => findDevelopmentImports(file, tree.read(file), development)),
    ...findFileCycles(graph),
    ...findFolderCycles(graph).map(describeCycle),
  ];
  return { mistakes, modules: graph.size };
}
