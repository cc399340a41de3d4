/** Probes and numbers: /healthz, /readyz, /v1/stats, /metrics (contract A10, A11). */
import type { AbsentEngines } from '../convert/plan.js';
import { ERROR_CODES } from '../errors.js';
import type { StoreSnapshot } from '../jobs/store.js';
import { METRICS, MetricsPage } from '../metrics/metrics.js';
import { RUN_METRICS } from '../metrics/run-metrics.js';
import { statisticsOf } from '../metrics/statistics.js';
import { NotReadyAnswer, ReadyAnswer, StatisticsAnswer, StatusAnswer, type Written } from './answers.js';
import type { RouteDescription } from './api.js';
import { NoQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

const HEALTH_API: RouteDescription = {
  summary: 'Whether the process turns',
  answers: { 200: { description: 'It does', schema: StatusAnswer } },
  errors: ['invalid_request'],
};

const READY_API: RouteDescription = {
  summary: 'Whether work is taken',
  answers: {
    200: { description: 'It is; engines that are not there are named', schema: ReadyAnswer },
    503: { description: 'not_ready, shutting_down', schema: NotReadyAnswer },
  },
  errors: ['invalid_request'],
};

const STATISTICS_API: RouteDescription = {
  summary: 'Counters as JSON',
  answers: { 200: { description: 'The counters', schema: StatisticsAnswer } },
  errors: ['unavailable'],
};

const METRICS_API: RouteDescription = {
  summary: 'Counters and process metrics for Prometheus',
  answers: {
    200: {
      description: [...METRICS, ...Object.values(RUN_METRICS)].map(({ name }) => name).join(', '),
      mediaTypes: [MetricsPage.contentType],
    },
  },
};

function disabledEngines(absent: AbsentEngines): Written<typeof ReadyAnswer>['disabled'] {
  return [...absent].map(([engine, reason]) => ({ engine, reason }));
}

const LOOK_MS = 100;

/** undefined where the store does not answer, at once where its volume is known to hang. */
async function snapshotUnlessHung({ store, readiness }: HttpServices): Promise<StoreSnapshot | undefined> {
  if (readiness.hung('db_path')) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<undefined>((resolve) => {
    timer = setInterval(() => readiness.hung('db_path') && resolve(undefined), LOOK_MS);
  });
  try {
    return await Promise.race([store.snapshot().catch(() => undefined), hung]);
  } finally {
    clearInterval(timer);
  }
}

export function statusRoutes(server: HttpServer, services: HttpServices): void {
  const page = new MetricsPage(services.metrics);
  server.addHook('onClose', async () => page.close());

  server.get('/healthz', { schema: { querystring: NoQuery }, config: { isOpen: true, api: HEALTH_API } }, async () => ({
    status: 'ok',
  }));

  server.get(
    '/readyz',
    { schema: { querystring: NoQuery }, config: { isOpen: true, api: READY_API } },
    async (_request, reply) => {
      const { readiness } = services;
      const reasons = readiness.reasons();
      if (reasons.length === 0) {
        return {
          status: 'ready',
          disabled: disabledEngines(services.rules.absentEngines),
          cold: readiness.coldEngines.map(({ engine, reason }) => ({ engine, reason })),
          hindrances: readiness.hindrances().map(({ text }) => text),
        };
      }
      const code = readiness.isShuttingDown ? 'shutting_down' : 'not_ready';
      return reply.code(ERROR_CODES[code].status).send({ code, message: reasons.join('; '), reasons });
    },
  );

  server.get(
    '/v1/stats',
    { schema: { querystring: NoQuery }, config: { api: STATISTICS_API } },
    async (): Promise<Written<typeof StatisticsAnswer>> =>
      statisticsOf(await services.store.snapshot(), services.workers, services.startedAtMs, services.now()),
  );

  server.get(
    '/metrics',
    { schema: { querystring: NoQuery }, config: { api: METRICS_API } },
    async (_request, reply) => {
      // Where the store does not answer, its metrics are left out: missing is not 0.
      const counters = await snapshotUnlessHung(services);
      reply.header('content-type', MetricsPage.contentType);
      return page.render({
        counters,
        workers: services.workers,
        streams: services.slots.usage,
        volumes: services.readiness.freeBytes(),
      });
    },
  );
}
