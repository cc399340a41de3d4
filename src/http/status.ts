/** Probes and numbers: /healthz, /readyz, /v1/stats, /metrics (contract A10, A11). */
import { ERROR_CODES } from '../errors.js';
import { MetricsPage } from '../metrics/metrics.js';
import { statisticsOf } from '../metrics/statistics.js';
import { NoQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

export function statusRoutes(server: HttpServer, services: HttpServices): void {
  const page = new MetricsPage(services.metrics);
  server.addHook('onClose', async () => page.close());

  server.get('/healthz', { config: { isOpen: true } }, async () => ({ status: 'ok' }));

  server.get('/readyz', { config: { isOpen: true } }, async (_request, reply) => {
    const { readiness } = services;
    const reasons = readiness.reasons();
    if (reasons.length === 0) return { status: 'ready' };
    const code = readiness.isShuttingDown ? 'shutting_down' : 'not_ready';
    return reply.code(ERROR_CODES[code].status).send({ code, message: reasons.join('; '), reasons });
  });

  server.get('/v1/stats', { schema: { querystring: NoQuery } }, async () =>
    statisticsOf(await services.store.snapshot(), services.workers, services.startedAtMs, services.now()),
  );

  server.get('/metrics', async (_request, reply) => {
    // Where the store does not answer, its metrics are left out: missing is not 0.
    const counters = await services.store.snapshot().catch(() => undefined);
    reply.header('content-type', MetricsPage.contentType);
    return page.render({ counters, workers: services.workers });
  });
}
