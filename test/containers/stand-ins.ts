import { copyFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exec, podman } from './podman.ts';

/*
 * Images of Debian packages under the names that the Containerfile and compose.yaml have, for machines without a registry of images.
 * The programs are real; their versions, entry points and sizes differ from those of the registry.
 */

const node = 'docker.io/library/node:26.12.1-trixie-slim';
const certificates = '/etc/ssl/certs/ca-certificates.crt';

const base = `FROM scratch
ADD trixie.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt ${certificates}
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_EXTRA_CA_CERTS=${certificates}
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`;

/** By the name of the registry's image: the Debian package, and how the image starts. */
const services = {
  'docker.io/library/haproxy:3.2-alpine': `RUN apt-get update && apt-get install -y --no-install-recommends haproxy
USER haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
`,
  'docker.io/library/redis:8-alpine': `RUN apt-get update && apt-get install -y --no-install-recommends redis-server
WORKDIR /data
ENTRYPOINT ["sh", "-c", "exec \\"$@\\" --protected-mode no", "sh"]
`,
  'docker.io/library/postgres:18-alpine': `RUN apt-get update && apt-get install -y --no-install-recommends postgresql
COPY postgres.sh /
STOPSIGNAL SIGINT
CMD ["bash", "/postgres.sh"]
`,
};

/** As that of the registry's image: the first start makes user and database on a server that listens on a socket alone. */
const postgres = `set -euo pipefail
folder=/var/lib/postgresql/trial
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
install -d -o postgres -g postgres /run/postgresql
if [ ! -s "$folder/PG_VERSION" ]; then
  install -d -o postgres -g postgres -m 700 "$folder"
  echo "$POSTGRES_PASSWORD" > /run/password && chown postgres /run/password
  as initdb -D "$folder" -U "$POSTGRES_USER" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --pwfile=/run/password
  echo "host all all all scram-sha-256" >> "$folder/pg_hba.conf"
  as pg_ctl -D "$folder" -o "-c listen_addresses=" -w start
  as createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  as pg_ctl -D "$folder" -m fast -w stop
fi
exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D "$folder" -c listen_addresses='*'
`;

export async function makeStandIns(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-stand-ins-'));
  try {
    const tree = join(folder, 'trixie');
    await exec('debootstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', 'trixie', tree]);
    await exec('tar', ['-C', tree, '-cf', join(folder, 'trixie.tar'), '.']);
    await copyFile(process.execPath, join(folder, 'node'));
    const npm = await exec('readlink', ['-f', await exec('which', ['npm'])]);
    await cp(dirname(dirname(npm)), join(folder, 'npm'), { recursive: true });
    await copyFile(certificates, join(folder, 'ca-certificates.crt'));
    await writeFile(join(folder, 'postgres.sh'), postgres);
    await build(folder, node, base, '--squash-all');
    for (const [name, lines] of Object.entries(services)) await build(folder, name, `FROM ${node}\n${lines}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function build(folder: string, name: string, lines: string, ...words: string[]): Promise<void> {
  const file = join(folder, 'Containerfile');
  await writeFile(file, lines);
  await podman('build', '--network', 'host', ...words, '-f', file, '-t', name, folder);
}
