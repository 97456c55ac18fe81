/*
 * Real mail servers as Debian packages them, and Mailpit from the Go proxy. Each takes mail on 127.0.0.1 for `ani` at two domains, one of
 * them with a letter beyond ASCII, into mailboxes below /var/mail of its own root.
 */

export const domains = ['shop.example', 'xn--mnchen-3ya.example'] as const;

/** What a server is asked beside taking mail. Recipients are at `shop.example`. */
export interface SpecialCase {
  readonly name: string;
  readonly recipient: string;
  /** Outcome of `sendMail`, and a part of the server's words. */
  readonly kind: 'sent' | 'later' | 'refused';
  readonly words?: string;
}

export interface MailServer {
  readonly name: string;
  /** Shell commands that install it into the root and write its configuration; `PORT` is in the environment. */
  readonly install: string;
  /** Prints its version. */
  readonly version: string;
  /** Runs it in the foreground. */
  readonly run: string;
  /** Folder with the mails that it has taken, below its root; undefined where an API has them. */
  readonly mailboxes: string | undefined;
  readonly cases: readonly SpecialCase[];
}

const apt = (name: string) => `echo exit 101 > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq -y install --no-install-recommends ${name} > /tmp/apt.log 2>&1 || { tail -5 /tmp/apt.log >&2; exit 1; }
id ani > /dev/null 2>&1 || useradd -m ani
`;

const unknownUser: SpecialCase = { name: 'unknown user', recipient: 'nobody.here', kind: 'refused' };

const postfix: MailServer = {
  name: 'postfix',
  // As a submission service of the same machine: encryption is demanded, with Debian's self-signed certificate.
  install: `${apt('postfix ssl-cert')}
postconf -e 'inet_interfaces = 127.0.0.1' 'inet_protocols = ipv4' 'mydestination =' 'smtpd_tls_security_level = encrypt' \
  'smtpd_tls_cert_file = /etc/ssl/certs/ssl-cert-snakeoil.pem' 'smtpd_tls_key_file = /etc/ssl/private/ssl-cert-snakeoil.key' \
  'virtual_mailbox_domains = ${domains.join(', ')}' 'virtual_mailbox_base = /var/mail' \
  'virtual_mailbox_maps = inline:{ ${[...domains.map((domain) => `ani@${domain}=all`), 'later@shop.example=all'].join(', ')} }' \
  'virtual_uid_maps = static:8' 'virtual_gid_maps = static:8' 'virtual_minimum_uid = 8' 'mynetworks =' \
  'smtpd_relay_restrictions = reject_unauth_destination' 'maillog_file = /var/log/trial.log' \
  'smtpd_end_of_data_restrictions = check_recipient_access inline:{ { later@shop.example = 421 4.7.28 too fast, try again later } }'
postconf -MX smtp/inet
postconf -M "127.0.0.1:$PORT/inet=127.0.0.1:$PORT inet n - n - - smtpd"
newaliases`,
  version: 'postconf mail_version',
  run: 'postfix start-fg || { tail -3 /var/log/trial.log; exit 1; }',
  mailboxes: 'var/mail',
  cases: [
    { ...unknownUser, words: '5.1.1' },
    { name: '421 after the final dot', recipient: 'later', kind: 'later', words: '421 4.7.28' },
  ],
};

const exim: MailServer = {
  name: 'exim',
  install: `${apt('exim4-daemon-light')}
cat > /etc/exim4/exim4.conf <<END
primary_hostname = mail.shop.example
local_interfaces = 127.0.0.1
daemon_smtp_ports = $PORT
log_file_path = /tmp/exim-%slog
tls_advertise_hosts =
acl_smtp_connect = connect
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
connect:
  accept delay = 12s
rcpt:
  deny message = relay not permitted
    !domains = ${domains.join(' : ')}
  deny message = authentication required
    local_parts = auth
  deny message = unknown user
    !local_parts = ani : slow
  accept
data:
  accept condition = \\\${if match{\\$recipients}{slow@}}
    delay = 20s
  accept
begin routers
all:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  file = /var/mail/all
  user = mail
END`,
  version: 'exim4 -bV | head -1',
  run: 'exim4 -bdf -q30m',
  mailboxes: 'var/mail',
  cases: [
    unknownUser,
    { name: 'a sign-in that is demanded', recipient: 'auth', kind: 'later', words: 'authentication required' },
    { name: 'a check of 20 s after the final dot', recipient: 'slow', kind: 'sent' },
  ],
};

const opensmtpd: MailServer = {
  name: 'opensmtpd',
  install: `${apt('opensmtpd')}
cat > /etc/smtpd.conf <<END
listen on 127.0.0.1 port $PORT
action "box" mbox
match from any for domain { ${domains.map((domain) => `"${domain}"`).join(', ')} } action "box"
END`,
  version: 'smtpd -h 2>&1 | head -1',
  run: 'smtpd -d',
  mailboxes: 'var/mail',
  cases: [unknownUser],
};

const sendmail: MailServer = {
  name: 'sendmail',
  install: `${apt('sendmail-bin sensible-mda')}
printf '%s\\n' ${domains.join(' ')} > /etc/mail/local-host-names
# It waits for a minute where the machine's name has no dot.
printf '127.0.0.1 mail.shop.example %s\\n' "$(hostname)" > /etc/hosts
# It refuses senders of domains without DNS.
echo 'From:xn--bcher-kva.example OK' >> /etc/mail/access
makemap hash /etc/mail/access < /etc/mail/access`,
  version: 'sendmail -d0.1 -bt < /dev/null 2>/dev/null | head -1',
  run: 'exec sendmail -bD -q1m -O DaemonPortOptions=Addr=127.0.0.1,Port=$PORT,Name=MTA -O PidFile=/run/sendmail-trial.pid',
  mailboxes: 'var/mail',
  cases: [{ ...unknownUser, words: '5.1.1' }],
};

const mailpit: MailServer = {
  name: 'mailpit',
  install: 'GOBIN=/usr/local/bin GOFLAGS=-mod=mod go install github.com/axllent/mailpit@v1.33.1',
  version: 'mailpit version | head -1',
  run: 'exec mailpit --smtp 127.0.0.1:$PORT --listen 127.0.0.1:$((PORT + 1)) --database /tmp/mailpit.db',
  mailboxes: undefined,
  cases: [],
};

export const servers: readonly MailServer[] = [postfix, exim, opensmtpd, sendmail, mailpit];
