//! Strings of the subscription pages in the seven languages. `{}` is a placeholder.

use rules::status_page::{Language, Topic};

/// Strings of one language.
pub(super) struct SubscribeStrings {
    pub(super) title: &'static str,
    pub(super) intro: &'static str,
    pub(super) email: &'static str,
    pub(super) topics: &'static str,
    /// Labels for reports, maintenance and incidents.
    pub(super) topic: [&'static str; 3],
    pub(super) components: &'static str,
    pub(super) submit: &'static str,
    pub(super) sent: &'static str,
    pub(super) wrong_email: &'static str,
    /// Error: the address belongs to none of the domains of a members' page.
    pub(super) no_member: &'static str,
    /// Error: the page has reached its limit of subscribers.
    pub(super) full: &'static str,
    pub(super) confirm_title: &'static str,
    pub(super) confirm: &'static str,
    pub(super) confirmed: &'static str,
    pub(super) manage_title: &'static str,
    pub(super) save: &'static str,
    pub(super) saved: &'static str,
    pub(super) unsubscribe_title: &'static str,
    pub(super) unsubscribe: &'static str,
    pub(super) ended: &'static str,
    pub(super) no_longer: &'static str,
}

/// Returns the strings of a language.
pub(super) const fn for_language(language: Language) -> &'static SubscribeStrings {
    match language {
        Language::En => &EN,
        Language::De => &DE,
        Language::Fr => &FR,
        Language::Es => &ES,
        Language::Pt => &PT,
        Language::Ja => &JA,
        Language::Zh => &ZH,
    }
}

impl SubscribeStrings {
    pub(super) const fn topic(&self, topic: Topic) -> &'static str {
        let [reports, maintenance, incidents] = self.topic;
        match topic {
            Topic::Reports => reports,
            Topic::Maintenance => maintenance,
            Topic::Incidents => incidents,
        }
    }
}

const EN: SubscribeStrings = SubscribeStrings {
    title: "Get email updates",
    intro: "We will email you a link to confirm your address. You can unsubscribe at any time.",
    email: "Email address",
    topics: "Notify me about",
    topic: ["Status reports", "Scheduled maintenance", "Automatically detected outages"],
    components: "Only these components (leave empty for all)",
    submit: "Subscribe",
    sent: "Check your inbox. If we can deliver to this address, you will receive a confirmation link. It is valid for 24 hours.",
    wrong_email: "Enter a valid email address.",
    no_member: "Only email addresses of this page’s members can subscribe.",
    full: "This page cannot accept more subscribers at the moment.",
    confirm_title: "Confirm your subscription",
    confirm: "Confirm",
    confirmed: "Your subscription is confirmed.",
    manage_title: "Manage your subscription",
    save: "Save",
    saved: "Your changes have been saved.",
    unsubscribe_title: "Unsubscribe",
    unsubscribe: "Unsubscribe",
    ended: "You have unsubscribed, and we have deleted your address.",
    no_longer: "This link is no longer valid.",
};

const DE: SubscribeStrings = SubscribeStrings {
    title: "Updates per E-Mail erhalten",
    intro: "Du bekommst eine E-Mail, um deine Adresse zu bestätigen. Du kannst dich jederzeit abmelden.",
    email: "E-Mail-Adresse",
    topics: "Benachrichtige mich über",
    topic: ["Statusmeldungen", "Geplante Wartung", "Automatisch erkannte Ausfälle"],
    components: "Nur diese Komponenten (keine Auswahl: alle)",
    submit: "Abonnieren",
    sent: "Sieh in deinem Postfach nach. Falls die Adresse erreichbar ist, erhältst du einen Bestätigungslink. Er ist 24 Stunden gültig.",
    wrong_email: "Gib eine gültige E-Mail-Adresse ein.",
    no_member: "Nur E-Mail-Adressen von Mitgliedern dieser Seite können abonnieren.",
    full: "Diese Seite kann zurzeit keine weiteren Abonnements annehmen.",
    confirm_title: "Abonnement bestätigen",
    confirm: "Bestätigen",
    confirmed: "Dein Abonnement ist bestätigt.",
    manage_title: "Abonnement verwalten",
    save: "Speichern",
    saved: "Die Änderungen wurden gespeichert.",
    unsubscribe_title: "Abmelden",
    unsubscribe: "Abmelden",
    ended: "Du hast dich abgemeldet, und wir haben deine Adresse gelöscht.",
    no_longer: "Dieser Link ist nicht mehr gültig.",
};

const FR: SubscribeStrings = SubscribeStrings {
    title: "Recevoir les mises à jour par e-mail",
    intro: "Nous vous enverrons un lien pour confirmer votre adresse. Vous pouvez vous désabonner à tout moment.",
    email: "Adresse e-mail",
    topics: "M’informer sur",
    topic: [
        "Les rapports d’état",
        "Les maintenances programmées",
        "Les pannes détectées automatiquement",
    ],
    components: "Seulement ces composants (laisser vide pour tous)",
    submit: "S’abonner",
    sent: "Consultez votre boîte de réception. Si l’adresse est valide, vous recevrez un lien de confirmation, valable 24 heures.",
    wrong_email: "Saisissez une adresse e-mail valide.",
    no_member: "Seules les adresses e-mail des membres de cette page peuvent s’abonner.",
    full: "Cette page ne peut pas accepter d’autres abonnés pour le moment.",
    confirm_title: "Confirmer l’abonnement",
    confirm: "Confirmer",
    confirmed: "Votre abonnement est confirmé.",
    manage_title: "Gérer votre abonnement",
    save: "Enregistrer",
    saved: "Vos modifications ont été enregistrées.",
    unsubscribe_title: "Se désabonner",
    unsubscribe: "Se désabonner",
    ended: "Vous êtes désabonné et nous avons supprimé votre adresse.",
    no_longer: "Ce lien n’est plus valable.",
};

const ES: SubscribeStrings = SubscribeStrings {
    title: "Recibir novedades por correo",
    intro: "Te enviaremos un enlace para confirmar tu dirección. Puedes cancelar la suscripción en cualquier momento.",
    email: "Correo electrónico",
    topics: "Avisarme sobre",
    topic: ["Informes de estado", "Mantenimiento programado", "Caídas detectadas automáticamente"],
    components: "Solo estos componentes (vacío: todos)",
    submit: "Suscribirse",
    sent: "Revisa tu bandeja de entrada. Si la dirección es válida, recibirás un enlace de confirmación. Es válido durante 24 horas.",
    wrong_email: "Escribe un correo electrónico válido.",
    no_member: "Solo pueden suscribirse los correos de los miembros de esta página.",
    full: "Esta página no puede aceptar más suscripciones por el momento.",
    confirm_title: "Confirmar la suscripción",
    confirm: "Confirmar",
    confirmed: "Tu suscripción está confirmada.",
    manage_title: "Gestionar la suscripción",
    save: "Guardar",
    saved: "Los cambios se han guardado.",
    unsubscribe_title: "Cancelar la suscripción",
    unsubscribe: "Cancelar la suscripción",
    ended: "Has cancelado la suscripción y hemos eliminado tu dirección.",
    no_longer: "Este enlace ya no es válido.",
};

const PT: SubscribeStrings = SubscribeStrings {
    title: "Receber atualizações por e-mail",
    intro: "Enviaremos um link para confirmar seu endereço. Você pode cancelar a assinatura a qualquer momento.",
    email: "Endereço de e-mail",
    topics: "Quero ser avisado sobre",
    topic: [
        "Relatórios de status",
        "Manutenção programada",
        "Interrupções detectadas automaticamente",
    ],
    components: "Somente estes componentes (vazio: todos)",
    submit: "Assinar",
    sent: "Verifique sua caixa de entrada. Se o endereço for válido, você receberá um link de confirmação. Ele vale por 24 horas.",
    wrong_email: "Informe um e-mail válido.",
    no_member: "Somente e-mails dos membros desta página podem assinar.",
    full: "No momento, esta página não pode aceitar mais assinantes.",
    confirm_title: "Confirmar a assinatura",
    confirm: "Confirmar",
    confirmed: "Sua assinatura está confirmada.",
    manage_title: "Gerenciar a assinatura",
    save: "Salvar",
    saved: "As alterações foram salvas.",
    unsubscribe_title: "Cancelar a assinatura",
    unsubscribe: "Cancelar a assinatura",
    ended: "Você cancelou a assinatura e excluímos seu endereço.",
    no_longer: "Este link não é mais válido.",
};

const JA: SubscribeStrings = SubscribeStrings {
    title: "メールで更新情報を受け取る",
    intro: "アドレス確認用のリンクをメールでお送りします。購読はいつでも解除できます。",
    email: "メールアドレス",
    topics: "通知する内容",
    topic: ["ステータスレポート", "計画メンテナンス", "自動検知された障害"],
    components: "次のコンポーネントのみ（選択なし：すべて）",
    submit: "購読する",
    sent: "受信トレイをご確認ください。配信可能なアドレスであれば、確認用リンクが届きます。有効期限は24時間です。",
    wrong_email: "有効なメールアドレスを入力してください。",
    no_member: "このページのメンバーのメールアドレスのみ購読できます。",
    full: "このページは現在、新しい購読を受け付けられません。",
    confirm_title: "購読の確認",
    confirm: "確認する",
    confirmed: "購読が確認されました。",
    manage_title: "購読の管理",
    save: "保存する",
    saved: "変更を保存しました。",
    unsubscribe_title: "購読の解除",
    unsubscribe: "購読を解除する",
    ended: "購読を解除し、アドレスを削除しました。",
    no_longer: "このリンクは無効になりました。",
};

const ZH: SubscribeStrings = SubscribeStrings {
    title: "通过邮件接收更新",
    intro: "我们会向您发送确认链接。您可以随时退订。",
    email: "邮箱地址",
    topics: "通知我",
    topic: ["状态报告", "计划维护", "自动检测到的故障"],
    components: "仅限以下组件（不选则为全部）",
    submit: "订阅",
    sent: "请查看收件箱。如果此地址可以收信，您会收到确认链接，24 小时内有效。",
    wrong_email: "请输入有效的邮箱地址。",
    no_member: "只有此页面成员的邮箱才能订阅。",
    full: "此页面目前无法接受更多订阅。",
    confirm_title: "确认订阅",
    confirm: "确认",
    confirmed: "您的订阅已确认。",
    manage_title: "管理订阅",
    save: "保存",
    saved: "更改已保存。",
    unsubscribe_title: "退订",
    unsubscribe: "退订",
    ended: "您已退订，我们已删除您的地址。",
    no_longer: "此链接已失效。",
};
