//! Strings of the detail pages in each language: incidents, the history and latency charts.

/// Strings of one language. `{}` is a placeholder.
#[derive(Debug)]
pub(crate) struct DetailStrings {
    /// "30 days", singular and plural.
    pub(crate) days: [&'static str; 2],
    /// Label of the choice of days.
    pub(crate) range: &'static str,
    pub(crate) latency: &'static str,
    /// Explanation of percentiles.
    pub(crate) about_percentiles: &'static str,
    pub(crate) phases: &'static str,
    /// Explanation of which checks the phases are averages of.
    pub(crate) about_phases: &'static str,
    /// DNS lookup, connection, TLS, first byte, transfer.
    pub(crate) phase: [&'static str; 5],
    /// Heading of the column of times.
    pub(crate) time: &'static str,
    /// Heading of the column of successful checks.
    pub(crate) successes: &'static str,
    /// "{} ms".
    pub(crate) milliseconds: &'static str,
    /// Label of the link to all months.
    pub(crate) older: &'static str,
    /// Format of a month with `{m}` (its name) and `{y}`.
    pub(crate) month: &'static str,
    /// Heading of the timeline of an incident.
    pub(crate) happened: &'static str,
    pub(crate) began: &'static str,
    pub(crate) acknowledged: &'static str,
    pub(crate) recovered: &'static str,
    pub(crate) in_part: &'static str,
    pub(crate) unchecked: &'static str,
    pub(crate) resolved: &'static str,
    /// "Seen from 3 places", singular and plural.
    pub(crate) seen_from: [&'static str; 2],
    /// "It lasted {}".
    pub(crate) duration: &'static str,
    /// Notice that a month is truncated.
    pub(crate) truncated: &'static str,
    pub(crate) details: &'static str,
}

impl DetailStrings {
    /// Formats a count with the singular or the plural.
    pub(crate) fn pluralize([one, several]: [&str; 2], count: u32) -> String {
        let text = if count == 1 { one } else { several };
        text.replace("{}", &count.to_string())
    }
}

pub(super) const EN: DetailStrings = DetailStrings {
    days: ["{} day", "{} days"],
    range: "Time range",
    latency: "Response time",
    about_percentiles: "p95: 95 of 100 successful checks finished within this time.",
    phases: "Response time by phase",
    about_phases: "Average of successful checks, sampled every ten minutes.",
    phase: ["DNS", "Connect", "TLS", "First byte", "Transfer"],
    time: "Time",
    successes: "Successful checks",
    milliseconds: "{} ms",
    older: "Full history",
    month: "{m} {y}",
    happened: "Timeline",
    began: "Checks started to fail",
    acknowledged: "We are looking into it",
    recovered: "Recovered",
    in_part: "Recovered, but degraded",
    unchecked: "Monitoring stopped",
    resolved: "Marked as resolved",
    seen_from: ["Seen from {} place", "Seen from {} places"],
    duration: "Duration: {}",
    truncated: "This month had more events; only the latest are shown.",
    details: "Details",
};

pub(super) const DE: DetailStrings = DetailStrings {
    days: ["{} Tag", "{} Tage"],
    range: "Zeitraum",
    latency: "Antwortzeit",
    about_percentiles: "p95: 95 von 100 erfolgreichen Prüfungen waren innerhalb dieser Zeit abgeschlossen.",
    phases: "Antwortzeit nach Phase",
    about_phases: "Mittelwert erfolgreicher Prüfungen, alle zehn Minuten erfasst.",
    phase: ["DNS", "Verbindung", "TLS", "Erstes Byte", "Übertragung"],
    time: "Zeit",
    successes: "Erfolgreiche Prüfungen",
    milliseconds: "{} ms",
    older: "Gesamter Verlauf",
    month: "{m} {y}",
    happened: "Zeitlicher Verlauf",
    began: "Erste Prüfungen fehlgeschlagen",
    acknowledged: "Wir kümmern uns darum",
    recovered: "Wiederhergestellt",
    in_part: "Wiederhergestellt, aber beeinträchtigt",
    unchecked: "Überwachung beendet",
    resolved: "Als behoben markiert",
    seen_from: ["Von {} Ort aus gesehen", "Von {} Orten aus gesehen"],
    duration: "Dauer: {}",
    truncated: "In diesem Monat gab es weitere Ereignisse; nur die neuesten werden angezeigt.",
    details: "Details",
};

pub(super) const FR: DetailStrings = DetailStrings {
    days: ["{} jour", "{} jours"],
    range: "Période affichée",
    latency: "Temps de réponse",
    about_percentiles: "p95 : 95 vérifications réussies sur 100 se sont terminées dans ce délai.",
    phases: "Temps de réponse par phase",
    about_phases: "Moyenne des vérifications réussies, échantillonnées toutes les dix minutes.",
    phase: ["DNS", "Connexion", "TLS", "Premier octet", "Transfert"],
    time: "Heure",
    successes: "Vérifications réussies",
    milliseconds: "{} ms",
    older: "Historique complet",
    month: "{m} {y}",
    happened: "Chronologie",
    began: "Les premières vérifications ont échoué",
    acknowledged: "Nous nous en occupons",
    recovered: "Rétabli",
    in_part: "Rétabli, mais dégradé",
    unchecked: "Surveillance arrêtée",
    resolved: "Marqué comme résolu",
    seen_from: ["Vu depuis {} lieu", "Vu depuis {} lieux"],
    duration: "Durée : {}",
    truncated: "Ce mois compte d’autres événements ; seuls les plus récents sont affichés.",
    details: "Détails",
};

pub(super) const ES: DetailStrings = DetailStrings {
    days: ["{} día", "{} días"],
    range: "Periodo",
    latency: "Tiempo de respuesta",
    about_percentiles: "p95: 95 de cada 100 comprobaciones correctas terminaron en este tiempo.",
    phases: "Tiempo de respuesta por fase",
    about_phases: "Promedio de las comprobaciones correctas, con una muestra cada diez minutos.",
    phase: ["DNS", "Conexión", "TLS", "Primer byte", "Transferencia"],
    time: "Hora",
    successes: "Comprobaciones correctas",
    milliseconds: "{} ms",
    older: "Historial completo",
    month: "{m} de {y}",
    happened: "Cronología",
    began: "Las comprobaciones empezaron a fallar",
    acknowledged: "Estamos trabajando en ello",
    recovered: "Recuperado",
    in_part: "Recuperado, pero degradado",
    unchecked: "Supervisión detenida",
    resolved: "Marcado como resuelto",
    seen_from: ["Visto desde {} lugar", "Visto desde {} lugares"],
    duration: "Duración: {}",
    truncated: "Este mes hubo más eventos; solo se muestran los más recientes.",
    details: "Detalles",
};

pub(super) const PT: DetailStrings = DetailStrings {
    days: ["{} dia", "{} dias"],
    range: "Período",
    latency: "Tempo de resposta",
    about_percentiles: "p95: 95 de cada 100 verificações bem-sucedidas terminaram neste tempo.",
    phases: "Tempo de resposta por fase",
    about_phases: "Média das verificações bem-sucedidas, com uma amostra a cada dez minutos.",
    phase: ["DNS", "Conexão", "TLS", "Primeiro byte", "Transferência"],
    time: "Hora",
    successes: "Verificações bem-sucedidas",
    milliseconds: "{} ms",
    older: "Histórico completo",
    month: "{m} de {y}",
    happened: "Linha do tempo",
    began: "As verificações começaram a falhar",
    acknowledged: "Estamos trabalhando nisso",
    recovered: "Recuperado",
    in_part: "Recuperado, mas degradado",
    unchecked: "Monitoramento encerrado",
    resolved: "Marcado como resolvido",
    seen_from: ["Visto de {} local", "Visto de {} locais"],
    duration: "Duração: {}",
    truncated: "Este mês teve mais eventos; só os mais recentes são mostrados.",
    details: "Detalhes",
};

pub(super) const JA: DetailStrings = DetailStrings {
    days: ["{}日間", "{}日間"],
    range: "表示期間",
    latency: "応答時間",
    about_percentiles: "p95：成功したチェック100回のうち95回がこの時間内に完了しました。",
    phases: "フェーズ別の応答時間",
    about_phases: "成功したチェックの平均（10分ごとに抽出）。",
    phase: ["DNS", "接続", "TLS", "最初のバイト", "転送"],
    time: "時刻",
    successes: "成功したチェック",
    milliseconds: "{} ms",
    older: "すべての履歴",
    month: "{y}年{m}",
    happened: "タイムライン",
    began: "チェックが失敗し始めました",
    acknowledged: "対応中です",
    recovered: "復旧しました",
    in_part: "復旧しましたが、パフォーマンスが低下しています",
    unchecked: "監視を停止しました",
    resolved: "解決済みとしてマークされました",
    seen_from: ["{}か所で確認", "{}か所で確認"],
    duration: "継続時間：{}",
    truncated: "この月にはほかにもイベントがあります。最新のもののみ表示しています。",
    details: "詳細",
};

pub(super) const ZH: DetailStrings = DetailStrings {
    days: ["{} 天", "{} 天"],
    range: "时间范围",
    latency: "响应时间",
    about_percentiles: "p95：100 次成功检查中有 95 次在此时间内完成。",
    phases: "各阶段响应时间",
    about_phases: "成功检查的平均值，每十分钟采样一次。",
    phase: ["DNS", "连接", "TLS", "首字节", "传输"],
    time: "时间",
    successes: "成功的检查",
    milliseconds: "{} 毫秒",
    older: "完整历史",
    month: "{y}年{m}",
    happened: "时间线",
    began: "检查开始失败",
    acknowledged: "我们正在处理",
    recovered: "已恢复",
    in_part: "已恢复，但性能下降",
    unchecked: "已停止监控",
    resolved: "已标记为解决",
    seen_from: ["从 {} 个地点观察到", "从 {} 个地点观察到"],
    duration: "持续 {}",
    truncated: "本月还有更多事件，仅显示最新的。",
    details: "详情",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_the_same_places_for_values() {
        for words in [EN, DE, FR, ES, PT, JA, ZH] {
            for (text, values) in [
                (words.days[0], 1),
                (words.days[1], 1),
                (words.milliseconds, 1),
                (words.seen_from[0], 1),
                (words.seen_from[1], 1),
                (words.duration, 1),
                (words.truncated, 0),
                (words.about_percentiles, 0),
            ] {
                assert_eq!(text.matches("{}").count(), values, "{text}");
            }
            assert!(words.month.contains("{m}") && words.month.contains("{y}"), "{}", words.month);
        }
        assert_eq!(DetailStrings::pluralize(EN.seen_from, 1), "Seen from 1 place");
        assert_eq!(DetailStrings::pluralize(EN.days, 30), "30 days");
    }
}
