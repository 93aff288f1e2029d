import type { ClusterConfig } from '../config/compiled.ts';
import { type ClusterFacts, INTERNAL_TOPICS } from '../kafka/inspect.ts';
import type { DescribedTopic } from '../kafka/native.ts';
import { type Finding, finding } from './finding.ts';

/** How the cluster is reached. */
export function judgeConnection({ bootstrapServers, tls, sasl }: ClusterConfig, { brokers }: ClusterFacts): Finding {
  const how = [tls ? 'TLS' : 'no encryption', sasl ? `SASL ${sasl.mechanism}` : 'no credentials'].join(', ');
  return finding('ok', `${bootstrapServers} answers: ${brokers} broker${brokers === 1 ? '' : 's'}, ${how}`);
}

/** What the configuration leaves open to others on the network. */
export function judgeSecurity({ tls, sasl, properties }: ClusterConfig): Finding[] {
  const findings: Finding[] = [];
  if (!tls && (sasl?.mechanism === 'PLAIN' || sasl?.mechanism === 'OAUTHBEARER')) {
    findings.push(
      finding('warning', `kafka.sasl: ${sasl.mechanism} without TLS shows the secret to the network: add kafka.tls`),
    );
  }
  if (properties['enable.ssl.certificate.verification'] === false) {
    findings.push(
      finding('warning', 'kafka.properties: enable.ssl.certificate.verification is off, anybody can pose as a broker'),
    );
  }
  if (properties['ssl.endpoint.identification.algorithm'] === 'none') {
    findings.push(
      finding(
        'warning',
        'kafka.properties: ssl.endpoint.identification.algorithm is none, whoever has a certificate of the authority can pose as a broker',
      ),
    );
  }
  return findings;
}

/** Whether what is committed survives a broker. */
export function judgeDurability({ topics, more }: ClusterFacts): Finding[] {
  const visible = topics.filter(({ error }) => !error);
  const findings = visible.flatMap((topic) => {
    const settings = more.kind === 'asked' ? more.topics.get(topic.name) : undefined;
    return judgeReplicas(topic, settings?.get('min.insync.replicas'));
  });
  const hidden = INTERNAL_TOPICS.filter((name) => !visible.some((topic) => topic.name === name));
  if (hidden.length > 0) {
    findings.push(
      finding(
        'not checked',
        `replicas of ${hidden.join(', ')}: not there yet, or Describe on them is denied to this user`,
      ),
    );
  }
  if (more.kind === 'unasked') {
    findings.push(finding('not checked', `min.insync.replicas and message sizes of all topics: ${more.why}`));
    return findings;
  }
  const silent = visible.map(({ name }) => name).filter((name) => !more.topics.get(name));
  if (silent.length > 0) {
    findings.push(
      finding(
        'not checked',
        `min.insync.replicas and max.message.bytes of ${silent.join(', ')}: DescribeConfigs on them is denied to this user`,
      ),
    );
  }
  return findings;
}

function judgeReplicas({ name, partitions }: DescribedTopic, minInSync: string | undefined): Finding[] {
  const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
  if (replicas === 1) {
    const remedy = 'give it 3, and min.insync.replicas 2';
    return [finding('warning', `topic ${name} has one replica: what was committed is lost with its broker; ${remedy}`)];
  }
  if (minInSync !== '1') return [];
  return [
    finding(
      'warning',
      `topic ${name} has min.insync.replicas 1: a commit may stand on one broker alone and be lost with it; set it to 2`,
    ),
  ];
}
